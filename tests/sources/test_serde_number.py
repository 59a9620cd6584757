"""A number in a tokenizer.json is read as by the reference, to the last bit."""

import json
import random

import pytest
from reader_samples import reference

from tokexport.sources.json_node import parse
from tokexport.sources.serde_number import serde_number


def numbers() -> list[str]:
    r = random.Random(1)
    found = [
        *("0", "-0", "-0.0", "0e400", "0.0e-999", "1e308", "1e-400", "4.9e-324"),
        *("18446744073709551615.5", "18446744073709551616.5", "184467440737095516150.1"),
        *("1.7976931348623157e308", "123456789012345678901234567890e-30"),
    ]
    for _ in range(1500):
        found.append(repr(r.uniform(-20, 0)))
        found.append(f"{r.uniform(-20, 0):.{r.randrange(1, 30)}f}")
        found.append(f"{r.uniform(-20, 0) * 10.0 ** r.randrange(-300, 300):.{r.randrange(1, 25)}e}")
        found.append(str(r.randrange(-(10 ** r.randrange(1, 25)), 10 ** r.randrange(1, 25))))
        found.append(f"{r.randrange(10**30)}.{r.randrange(10**9)}E+{r.randrange(9)}")
    return found


def loaded(scores: list[str]) -> list[float]:
    """The scores of a Unigram model as the reference reads them."""
    vocab = ",".join(f'["{chr(0x4E00 + number)}",{score}]' for number, score in enumerate(scores))
    source = f'{{"version":"1.0","model":{{"type":"Unigram","unk_id":null,"vocab":[{vocab}]}}}}'
    return [score for _, score in json.loads(reference(source).to_str())["model"]["vocab"]]


def test_a_number_is_parsed_as_in_the_installed_reference() -> None:
    texts = numbers()
    assert [serde_number(text) for text in texts] == loaded(texts)


def test_the_reference_does_not_round_to_the_nearest() -> None:
    texts = numbers()
    assert any(float(text) != number for text, number in zip(texts, loaded(texts), strict=True))


@pytest.mark.parametrize("text", ["1e309", "-1e309", "1" * 400, "10e308", "1e99999999999"])
def test_a_number_that_is_too_large_is_refused_by_both(text: str) -> None:
    with pytest.raises(Exception, match="number out of range"):
        loaded([text])
    with pytest.raises(ValueError, match="out of the range"):
        serde_number(text)


def test_documents_are_read_with_this_parser() -> None:
    texts = [text for text in numbers() if "." in text or "e" in text]
    found = parse(f"[{','.join(texts)}]".encode(), "x.json").value
    assert found == [*map(serde_number, texts)]
