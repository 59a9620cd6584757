"""Rules of a normalizer for models that tests train: nmt_nfkc has a hundred thousand, over which
each conversion goes.
"""

from pathlib import Path

# What nmt_nfkc says about the characters that texts of tests have.
RULES = {
    **dict.fromkeys("\u00a0\t\n\u200b", " "),
    "\x01": "",
    "½": "1\u20442",
    "①": "1",
    "a\u0301": "á",
    "e\u0301": "é",
    "o\u0301": "ó",
}


def rules_file(folder: Path) -> Path:
    """The rules in a file, as the library's trainer reads them."""
    path = folder / "rules.tsv"
    lines = (
        "\t".join(" ".join(f"{ord(letter):X}" for letter in text) for text in rule)
        for rule in RULES.items()
    )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
