"""Small tokenizers, and texts that exercise their peculiarities."""

from hypothesis import strategies as st
from runtime_samples import NAMES, content, tokenizer

SUBJECTS = {name: (content(name), tokenizer(name)) for name in [*NAMES, "ranks"]}
ADDED = sorted(
    {token.content for _, subject in SUBJECTS.values() for token in subject.added_tokens}
)
PARTS = st.one_of(
    st.sampled_from(
        [
            *ADDED,
            *("cat", "caté", "<|end", " the", "light", "'s", "'ſ", "123", "  ", "\n", "\r\n"),
            *("\t", "\u3000", "\u0301", "渡", "가", "🙂"),
        ]
    ),
    st.characters(exclude_categories=["Cs"]),
    st.sampled_from("aeinrst \n"),
)
TEXTS = st.lists(PARTS, max_size=30).map("".join)
