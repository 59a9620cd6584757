"""Published chat templates produce the text and the ids of `transformers`."""

from pathlib import Path

import chat_models
import pytest
from repository import SLOW

pytest.importorskip("transformers", minversion="5.23")  # needs Python 3.11
pytest.importorskip("jinja2")


@pytest.mark.parametrize("name", [*chat_models.PUBLISHED, "kimi-k2"])
def test_a_published_template_produces_the_ids_of_transformers(
    name: str, shared: Path, tmp_path: Path
) -> None:
    both = chat_models.both_of(tmp_path, **chat_models.published(shared, name))
    compared, refused = chat_models.same_as_transformers(*both)
    assert compared > 40
    assert compared + refused == len(list(chat_models.requests()))


@pytest.mark.skipif(not SLOW, reason="needs TOKEXPORT_SLOW=1: converts whole vocabularies")
@pytest.mark.parametrize("name", chat_models.PUBLISHED)
def test_a_published_tokenizer_produces_the_ids_of_transformers(
    name: str, shared: Path, tmp_path: Path
) -> None:
    both = chat_models.both_of_published(shared / "tokenizers" / name, tmp_path)
    compared, _ = chat_models.same_as_transformers(*both)
    assert compared > 40
