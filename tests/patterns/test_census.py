"""docs/CENSUS.md names a published tokenizer for each supported feature of patterns."""

import census


def test_every_feature_occurs_in_a_published_tokenizer_that_the_document_names() -> None:
    users = census.features()
    assert [feature for feature, names in users.items() if not names] == []
    document = census.TARGET.read_text("utf-8")
    assert census.table(users) in document, "run python -m tests.census"
