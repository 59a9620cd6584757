"""A folder of documents is read completely, also through links, and each file in it once."""

from pathlib import Path

from tokexport.corpus.documents import find_files


def test_links_in_a_folder_are_followed_once(tmp_path: Path) -> None:
    for name in ("corpus/a/1.txt", "corpus/2.txt", "corpus/notes.md", "elsewhere/3.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text")
    corpus = tmp_path / "corpus"
    for name, target in (
        ("part", "../elsewhere"),
        ("part/back", "../corpus"),
        ("again", "a"),
        ("self", "."),
        ("4.txt", "2.txt"),
    ):
        (corpus / name).symlink_to(target)
    found = [path.relative_to(corpus).as_posix() for path in find_files([corpus])]
    assert found == ["2.txt", "4.txt", "a/1.txt", "part/3.txt"]


def test_a_link_to_nothing_is_not_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    (tmp_path / "b.txt").symlink_to("missing.txt")
    assert [path.name for path in find_files([tmp_path])] == ["a.txt", "b.txt"]
