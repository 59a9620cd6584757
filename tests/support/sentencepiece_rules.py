"""Normalizer rules for models that tests train: nmt_nfkc has a hundred thousand rules, and each
conversion processes all of them.
"""

from pathlib import Path

# The rules of nmt_nfkc for the characters in test texts.
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
    """The rules in a file, in the format of the library's trainer."""
    path = folder / "rules.tsv"
    lines = (
        "\t".join(" ".join(f"{ord(letter):X}" for letter in text) for text in rule)
        for rule in RULES.items()
    )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
