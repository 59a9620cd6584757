"""inspect and diff report any damage, even to a file that opens, in a sentence with exit code 2."""

from pathlib import Path

import golden_files
from command_line import PathOf, Run
from damage import Sections
from hypothesis import given, settings
from hypothesis import strategies as st

SMALL = ("gpt2", "added", "llama3", "unknown", "shuffled", "qwen")
COMMANDS = (
    ["inspect"],
    ["inspect", "--tokens"],
    ["inspect", "--added"],
    ["inspect", "--token", "3"],
)


@settings(max_examples=200)
@given(st.sampled_from([*SMALL, *golden_files.NAMES]), st.data())
def test_any_damage_in_any_section_is_reported_in_a_sentence(
    run: Run, small_file: PathOf, tmp_path: Path, name: str, data: st.DataObject
) -> None:
    whole = small_file(name) if name in SMALL else golden_files.FOLDER / f"{name}.bin"
    file = bytearray(whole.read_bytes())
    sections = Sections(file)
    tags = sorted(tag for tag in sections.table if len(sections.view(tag)))
    view = sections.view(data.draw(st.sampled_from(tags), "section"))
    for _ in range(data.draw(st.integers(1, 3), "places")):
        at = data.draw(st.integers(0, min(len(view), 256) - 1) | st.integers(0, len(view) - 1))
        view[at] = data.draw(st.sampled_from([0, 1, 0x7F, 0x80, 0xFF]) | st.integers(0, 255))
    sections.seal()
    path = tmp_path / "damaged.bin"
    path.write_bytes(file)
    for arguments in (*([*words, path] for words in COMMANDS), ["diff", path, whole]):
        outcome = run(*arguments)  # fails for a traceback
        if outcome.code == 2:
            assert outcome.stderr.startswith(f"tokexport: {path}: ")
            assert outcome.stderr.count("\n") == 1
        else:
            assert outcome.code in ((0, 1) if arguments[0] == "diff" else (0,))


def test_a_file_that_cannot_be_opened_is_refused_in_one_sentence(
    run: Run, small_file: PathOf, tmp_path: Path
) -> None:
    whole, path = small_file("gpt2").read_bytes(), tmp_path / "it.bin"
    half = len(whole) // 2
    for content in (whole[:-1], whole[:half] + bytes([whole[half] ^ 1]) + whole[half + 1 :]):
        path.write_bytes(content)
        for arguments in (["inspect", path], ["diff", path, small_file("gpt2")]):
            refusal = run(*arguments).refusal
            assert ("it.bin" in refusal, refusal.count("\n")) == (True, 1)


def test_the_section_and_the_damage_are_named(run: Run, small_file: PathOf, tmp_path: Path) -> None:
    path = tmp_path / "it.bin"
    for tag, content, words in (
        (b"PROV", b"[" * 180, "PROV is damaged: it does not hold a JSON object"),
        (b"RECS", b"\xff\xff\xff\x7f", "RECS is damaged: the bytes of id 0 are not in BYTS"),
    ):
        file = bytearray(small_file("gpt2").read_bytes())
        sections = Sections(file)
        view = sections.view(tag)
        view[: len(content)] = content[: len(view)]
        sections.seal()
        path.write_bytes(file)
        assert words in run("inspect", path).refusal
