"""Tokens in columns are those that they were made of, one by one and all in turn."""

from hypothesis import given
from hypothesis import strategies as st

from tokexport.model import Token, TokenKind
from tokexport.model.tokens import Tokens

TEXTS = st.binary(max_size=3)
KINDS = st.sampled_from(TokenKind)
FORMS = st.none() | TEXTS
TOKENS = st.builds(Token, TEXTS, KINDS, st.booleans(), FORMS, FORMS, st.booleans())


def fields(token: Token | None) -> object:
    return token and (token.forms, token.kind, token.special, token.fallback)


@given(st.lists(st.none() | TOKENS))
def test_tokens_in_columns_are_those_that_they_were_made_of(tokens: list[Token | None]) -> None:
    columns = Tokens.of(tokens)
    assert [columns[index] for index in range(len(tokens))] == [*columns]
    assert [*map(fields, columns)] == [*map(fields, tokens)]
