"""Added tokens are found by vectors where ``tokenizers`` finds them."""

from hypothesis import given, settings
from hypothesis import strategies as st
from reader_samples import BYTES, added, document, reference
from repository import SLOW
from tokenizers import Tokenizer

from tokexport._core import Core, split_widths
from tokexport.conversion import file_bytes
from tokexport.sources import read

NO_ENGINE = 2**63
FILLS = ("a", "\n", " ", "é", "中", "x\ny", "< ", "\u2019")
# Contents of one or a few bytes, with up to 15 first bytes; also pairs that begin no content.
LETTERS = "<[(=#\n\té▁あ中😀!~x"
CONTENTS = st.lists(
    st.tuples(st.text(st.sampled_from(LETTERS), min_size=1, max_size=3), st.booleans()),
    min_size=1,
    max_size=20,
    unique_by=lambda given: given[0],
)


def cores(contents: list[tuple[str, bool]]) -> tuple[Tokenizer, list[Core]]:
    """The reference, and cores with each vector width."""
    tokens = [
        added(content, BYTES.get(content, 256 + number), normalized=normalized)
        for number, (content, normalized) in enumerate(contents)
    ]
    library = reference(document(added_tokens=tokens, normalizer={"type": "NFC"}))
    data = file_bytes(read(library))
    return library, [Core(data, "added", NO_ENGINE, width) for width in split_widths()]


@settings(max_examples=500 if SLOW else 100)
@given(contents=CONTENTS, data=st.data())
def test_random_added_tokens_in_random_texts(
    contents: list[tuple[str, bool]], data: st.DataObject
) -> None:
    expected, engines = cores(contents)
    parts = st.one_of(
        st.sampled_from([content for content, _ in contents]),
        st.text(st.sampled_from(LETTERS), max_size=3),
        st.builds(lambda fill, count: fill * count, st.sampled_from(FILLS), st.integers(0, 40)),
    )
    for _ in range(5):
        text = "".join(data.draw(st.lists(parts, max_size=8)))
        ids = expected.encode(text, add_special_tokens=False).ids
        for core in engines:
            assert core.encode_numpy(text, "all", False).tolist() == ids, ascii(text)
