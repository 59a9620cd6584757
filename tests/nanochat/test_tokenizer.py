"""The methods of nanochat's tokenizer, with a tokexport file."""

import importlib.util
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

import tokexport
from tokexport.errors import TokexportError, UnsupportedError
from tokexport.nanochat import SPECIAL_TOKENS, Tokenizer
from tokexport.sources.patterns import NANOCHAT

TEXTS = [
    "The cat sat on the mat; the café was full, and 1234567 hats.\n",
    "def f(x):\n    return x + 1\n",
    "日本語の文章、日本の本。",
] * 20
VOCAB_SIZE = 330


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train_from_iterator(iter(TEXTS), VOCAB_SIZE)


@pytest.fixture(scope="module")
def encoding(tokenizer: Tokenizer) -> tiktoken.Encoding:
    """The encoding that nanochat makes of the merges."""
    count = VOCAB_SIZE - len(SPECIAL_TOKENS)
    ranks = {tokenizer.decode_single_token_bytes(id): id for id in range(count)}
    special = {name: id for id, name in enumerate(SPECIAL_TOKENS, count)}
    return tiktoken.Encoding(
        "rustbpe", pat_str=NANOCHAT, mergeable_ranks=ranks, special_tokens=special
    )


def test_ids_equal_those_of_tiktoken(tokenizer: Tokenizer, encoding: tiktoken.Encoding) -> None:
    @given(st.lists(st.sampled_from([*SPECIAL_TOKENS, "cat", " the", "日本", "12345"]) | st.text()))
    def compare(parts: list[str]) -> None:
        text = "".join(parts)
        ids = encoding.encode_ordinary(text)
        assert tokenizer.encode(text) == tokenizer(text) == ids
        assert tokenizer.decode(ids) == encoding.decode(ids)

    compare()
    assert tokenizer.get_vocab_size() == encoding.n_vocab == VOCAB_SIZE
    assert tokenizer.get_special_tokens() == encoding.special_tokens_set
    for id in range(VOCAB_SIZE):
        assert tokenizer.id_to_token(id) == encoding.decode([id])
        assert tokenizer.decode_single_token_bytes(id) == encoding.decode_single_token_bytes(id)
    for name in (*SPECIAL_TOKENS, "cat"[:1], "日本"):
        assert tokenizer.encode_special(name) == encoding.encode_single_token(name)


def test_tokens_can_be_added_at_either_end(tokenizer: Tokenizer) -> None:
    bos, end = tokenizer.get_bos_token_id(), tokenizer.encode_special("<|user_end|>")
    ids = tokenizer.encode("the cat")
    assert tokenizer.encode("the cat", prepend="<|bos|>") == [bos, *ids]
    assert tokenizer.encode("the cat", "<|bos|>", "<|user_end|>") == [bos, *ids, end]
    assert tokenizer.encode("the cat", prepend=7, append=end) == [7, *ids, end]
    assert tokenizer.encode("", prepend=0, append=0) == [0, 0]
    rows = tokenizer.encode(["the cat", ""], prepend=bos, append="<|user_end|>", num_threads=2)
    assert rows == [[bos, *ids, end], [bos, end]]
    assert tokenizer.encode(TEXTS, num_threads=1) == [tokenizer.encode(text) for text in TEXTS]
    assert tokenizer.encode([]) == []


def test_invalid_tokens_and_texts_are_refused(tokenizer: Tokenizer) -> None:
    with pytest.raises(KeyError):
        tokenizer.encode_special("<|nothing|>")
    with pytest.raises(KeyError):
        tokenizer.encode("a", prepend="<|nothing|>")
    with pytest.raises(KeyError):
        tokenizer.decode([VOCAB_SIZE])
    with pytest.raises(ValueError, match="the text is of type bytes; give a str or a list"):
        tokenizer.encode(b"a")  # type: ignore[call-overload]


def test_special_tokens_have_no_bytes_but_others_do(tokenizer: Tokenizer, tmp_path: Path) -> None:
    lengths = tokenizer.token_bytes()
    assert lengths.dtype == np.int32
    count = VOCAB_SIZE - len(SPECIAL_TOKENS)
    expected = [len(tokenizer.decode_single_token_bytes(id)) for id in range(count)]
    assert lengths.tolist() == expected + [0] * len(SPECIAL_TOKENS)
    text = "".join(TEXTS)
    assert lengths[tokenizer.encode(text, prepend="<|bos|>")].sum() == len(text.encode())
    paths = tokenizer.save_token_bytes(tmp_path / "new")
    assert paths[0] == tmp_path / "new" / "token_bytes.npy"
    assert np.array_equal(np.load(paths[0]), lengths)
    has_torch = importlib.util.find_spec("torch") is not None
    assert [path.suffix for path in paths] == [".npy", ".pt"][: 1 + has_torch]


def test_the_file_of_torch_has_the_same_values(tokenizer: Tokenizer, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    path = tokenizer.save_token_bytes(tmp_path)[1]
    loaded = torch.load(path, weights_only=True)
    assert loaded.dtype == torch.int32
    assert loaded.tolist() == tokenizer.token_bytes().tolist()


def test_a_saved_tokenizer_can_be_loaded(tokenizer: Tokenizer, tmp_path: Path) -> None:
    tokenizer.save(tmp_path / "new" / "folder")
    tokenizer.save(tmp_path / "new" / "folder")
    assert os.listdir(tmp_path / "new" / "folder") == ["tokenizer.bin"]
    reloaded = Tokenizer.from_directory(str(tmp_path / "new" / "folder"))
    assert reloaded.encode("".join(TEXTS)) == tokenizer.encode("".join(TEXTS))
    assert reloaded.get_bos_token_id() == tokenizer.get_bos_token_id() == VOCAB_SIZE - 9
    assert tokexport.load(tmp_path / "new" / "folder" / "tokenizer.bin").n_vocab == VOCAB_SIZE


def test_a_pickle_saved_by_nanochat_can_be_loaded(
    tokenizer: Tokenizer, encoding: tiktoken.Encoding, tmp_path: Path
) -> None:
    (tmp_path / "tokenizer.pkl").write_bytes(pickle.dumps(encoding))
    opened = Tokenizer.from_directory(tmp_path)
    assert opened.encode(TEXTS) == tokenizer.encode(TEXTS)
    assert opened.get_special_tokens() == set(SPECIAL_TOKENS)
    tokenizer.save(tmp_path)
    assert Tokenizer.from_directory(tmp_path).encode(TEXTS) == tokenizer.encode(TEXTS)


def test_two_different_tokenizers_in_a_directory_are_refused(
    encoding: tiktoken.Encoding, tmp_path: Path
) -> None:
    (tmp_path / "tokenizer.pkl").write_bytes(pickle.dumps(encoding))
    Tokenizer.train_from_iterator(iter(TEXTS), VOCAB_SIZE - 1).save(tmp_path)
    with pytest.raises(TokexportError, match=r"tokenizer\.bin and tokenizer\.pkl are two"):
        Tokenizer.from_directory(tmp_path)


def test_a_directory_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TokexportError, match=r"there is no tokenizer\.bin and no tokenizer\.pkl"):
        Tokenizer.from_directory(tmp_path)
    (tmp_path / "tokenizer.pkl").write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(UnsupportedError, match="it is a Python pickle"):
        Tokenizer.from_directory(tmp_path)
    ranks = {bytes([byte]): byte for byte in range(256)}
    plain = tiktoken.Encoding("x", pat_str=NANOCHAT, mergeable_ranks=ranks, special_tokens={})
    (tmp_path / "tokenizer.pkl").write_bytes(pickle.dumps(plain))
    with pytest.raises(TokexportError, match=r"it has no special token <\|bos\|> or <\|endoftext"):
        Tokenizer.from_directory(tmp_path)


def test_an_encoding_of_tiktoken_can_be_loaded_by_name(
    encoding: tiktoken.Encoding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ranks, end = {bytes([byte]): byte for byte in range(256)}, {"<|endoftext|>": 300}
    named = tiktoken.Encoding("named", pat_str=NANOCHAT, mergeable_ranks=ranks, special_tokens=end)
    monkeypatch.setitem(tiktoken.registry.ENCODINGS, "named", named)
    pretrained = Tokenizer.from_pretrained("named")
    assert pretrained.get_bos_token_id() == 300
    assert pretrained.get_vocab_size() == 301
    assert pretrained.encode("a", prepend="<|endoftext|>") == [300, 97]
    # The ids in between are not tokens.
    assert pretrained.token_bytes().tolist() == [1] * 256 + [0] * 45
    pretrained.save(tmp_path)
    assert Tokenizer.from_directory(tmp_path).get_bos_token_id() == 300
    with pytest.raises(KeyError):
        pretrained.render_conversation({"messages": [{"role": "user", "content": "a"}]})


def test_a_text_with_few_pairs_produces_fewer_tokens_and_a_warning() -> None:
    with pytest.warns(UserWarning, match="the texts have pairs for 2 merges"):
        tokenizer = Tokenizer.train_from_iterator(["abab"], 300)
    assert tokenizer.get_vocab_size() == 256 + 2 + 9
    assert tokenizer.decode(tokenizer.encode("abab", prepend="<|bos|>")) == "<|bos|>abab"


def test_a_vocabulary_without_room_for_the_special_tokens_is_refused() -> None:
    with pytest.raises(TokexportError, match="a vocabulary of 264 is too small"):
        Tokenizer.train_from_iterator(["a"], 264)
