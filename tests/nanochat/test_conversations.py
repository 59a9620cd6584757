"""A conversation is rendered like nanochat's documents, and a malformed one is refused."""

import copy
from typing import Any

import pytest
from chat_models import assistant, system, user
from hypothesis import given
from hypothesis import strategies as st

from tokexport.errors import ConversationError, TokexportError
from tokexport.nanochat import SPECIAL_TOKENS, Tokenizer

# Without merges: the ids are the bytes, then the nine special tokens.
BYTES = Tokenizer.train_from_iterator(["a"], vocab_size=265)
BOS, USER, USER_END, REPLY, REPLY_END, PYTHON, PYTHON_END, OUTPUT, OUTPUT_END = range(256, 265)
LEARNED = Tokenizer.train_from_iterator(["the cat, the hat and the café 日本 " * 9] * 5, 280)


def part(kind: object, text: object) -> dict[str, Any]:
    return {"type": kind, "text": text}


def test_the_special_tokens_are_nine() -> None:
    assert [BYTES.encode_special(name) for name in SPECIAL_TOKENS] == [*range(256, 265)]
    assert SPECIAL_TOKENS[0] == "<|bos|>"
    assert SPECIAL_TOKENS[8] == "<|output_end|>"


@pytest.mark.parametrize(
    ("messages", "ids", "mask"),
    [
        ([user("A")], [BOS, USER, 65, USER_END], "0000"),
        (
            [user("A"), assistant("BC"), user("")],
            [BOS, USER, 65, USER_END, REPLY, 66, 67, REPLY_END, USER, USER_END],
            "0000011100",
        ),
        (
            [system("S"), user("A"), assistant("")],
            [BOS, USER, 83, 10, 10, 65, USER_END, REPLY, REPLY_END],
            "000000001",
        ),
        (
            [
                user("A"),
                assistant([part("text", "B"), part("python", "1"), part("python_output", "2")]),
            ],
            [256, 257, 65, 258, 259, 66, PYTHON, 49, PYTHON_END, OUTPUT, 50, OUTPUT_END, 260],
            "0000011110001",
        ),
        ([user("A"), assistant([])], [BOS, USER, 65, USER_END, REPLY, REPLY_END], "000001"),
        (
            [user("<|bos|>"), assistant([part("python", "<|user_end|>")])],
            [256, 257, *b"<|bos|>", 258, 259, PYTHON, *b"<|user_end|>", PYTHON_END, 260],
            "00" + "0" * 7 + "001" + "1" * 12 + "11",
        ),
    ],
    ids=["one", "three", "system", "parts", "no parts", "special tokens as text"],
)
def test_a_conversation_is_rendered(
    messages: list[dict[str, object]], ids: list[int], mask: str
) -> None:
    expected = ids, [int(bit) for bit in mask]
    assert BYTES.render_conversation({"messages": messages}) == expected
    for limit in (0, 1, 5, len(ids), 99):
        cut = ids[:limit], expected[1][:limit]
        assert BYTES.render_conversation({"messages": messages}, max_tokens=limit) == cut


def test_the_default_limit_is_2048_tokens() -> None:
    messages = {"messages": [user("a" * 3000)]}
    assert [len(row) for row in BYTES.render_conversation(messages)] == [2048, 2048]
    assert len(BYTES.render_conversation(messages, max_tokens=9999)[0]) == 3003
    with pytest.raises(TokexportError, match="max_tokens is -1; use 0 or more"):
        BYTES.render_conversation(messages, max_tokens=-1)


def test_a_completion_begins_at_the_last_answer_of_the_assistant() -> None:
    messages = [system("S"), user("A"), assistant("B"), user("C"), assistant([part("text", "D")])]
    ids = [BOS, USER, *b"S\n\nA", USER_END, REPLY, 66, REPLY_END, USER, 67, USER_END, REPLY]
    assert BYTES.render_for_completion({"messages": messages}) == ids
    assert BYTES.render_for_completion({"messages": messages[1:3]}) == [BOS, USER, 65, 258, 259]


TEXTS = st.text(st.sampled_from("the cat日\n é")) | st.sampled_from(SPECIAL_TOKENS)
PARTS = st.lists(st.builds(part, st.sampled_from(["text", "python", "python_output"]), TEXTS))
TURNS = st.lists(st.tuples(TEXTS, TEXTS | PARTS), min_size=1, max_size=4)


@given(st.none() | TEXTS, TURNS, st.booleans())
def test_each_text_between_special_tokens_is_encoded_separately(
    instruction: str | None, turns: list[tuple[str, Any]], ends_with_user: bool
) -> None:
    messages = [] if instruction is None else [system(instruction)]
    before = "" if instruction is None else f"{instruction}\n\n"
    pairs: list[tuple[int, int]] = [(LEARNED.get_bos_token_id(), 0)]

    def add(name: str | None, text: str, trained: int) -> None:
        ids = LEARNED.encode(text)
        if name is not None:
            start, end = (LEARNED.encode_special(f"<|{name}_{side}|>") for side in ("start", "end"))
            ids = [start, *ids, end]
        pairs.extend((id, trained) for id in ids)

    for question, answer in turns:
        messages += [user(question), assistant(answer)]
        add("user", before + question, 0)
        before = ""
        pairs.append((LEARNED.encode_special("<|assistant_start|>"), 0))
        for one in [part("text", answer)] if isinstance(answer, str) else answer:
            name = {"text": None, "python": "python", "python_output": "output"}[one["type"]]
            add(name, one["text"], int(name != "output"))
        pairs.append((LEARNED.encode_special("<|assistant_end|>"), 1))
    if ends_with_user:
        messages.append(user("?"))
        add("user", "?", 0)
    unchanged = copy.deepcopy(messages)
    ids, mask = LEARNED.render_conversation({"messages": messages}, max_tokens=1 << 20)
    assert [*zip(ids, mask, strict=True)] == pairs
    assert messages == unchanged


HINT = "a conversation is an optional system message"


@pytest.mark.parametrize(
    ("messages", "index", "message"),
    [
        ([], None, f"conversation: it has no messages; {HINT}"),
        ("hello", None, "conversation: it has no messages"),
        ([assistant("a")], 0, r"messages\[0\]\.role: it is 'assistant'; expected 'user' here"),
        ([user("a"), user("b")], 1, r"messages\[1\]\.role: it is 'user'; expected 'assistant'"),
        ([user("a"), assistant("b"), assistant("c")], 2, "expected 'user' here"),
        ([user("a"), {"role": "tool", "content": "b"}], 1, "it is 'tool'; expected 'assistant'"),
        ([{"content": "a"}], 0, r"messages\[0\]\.role: it is None"),
        (["a"], 0, r"messages\[0\]: it is 'a'; expected a message with a role and a content"),
        ([user("a"), None], 1, r"messages\[1\]: it is None; expected a message"),
        ([system("a")], 0, "no message follows the system message"),
        ([system("a"), assistant("b")], 1, "it is 'assistant'; expected 'user' here"),
        ([system("a"), system("b"), user("c")], 1, "it is 'system'; expected 'user' here"),
        ([user("a"), system("b")], 1, "it is 'system'; expected 'assistant' here"),
        ([system(None), user("a")], 0, r"messages\[0\]\.content: it is None; expected a text"),
        ([user(["a"])], 0, r"messages\[0\]\.content: it is \['a'\]; expected a text"),
        ([{"role": "user"}], 0, r"messages\[0\]\.content: it is None; expected a text"),
        ([user("a"), assistant(3)], 1, r"content: it is 3; expected a text, or a list of parts"),
        ([user("a"), assistant(["b"])], 1, r"content\[0\]: it is 'b'; expected a part with a type"),
        (
            [user("a"), assistant([part("text", "b"), part("image", "c")])],
            1,
            r"messages\[1\]\.content\[1\]\.type: it is 'image'; use text, python, python_output",
        ),
        ([user("a"), assistant([part([], "b")])], 1, r"content\[0\]\.type: it is \[\]"),
        (
            [user("a"), assistant([part("python", 1)])],
            1,
            r"content\[0\]\.text: it is 1; expected a te",
        ),
        ([user("a"), assistant([{"type": "text"}])], 1, r"content\[0\]\.text: it is None"),
        ([user("a"), user("b" * 999)], 1, "it is 'user'"),
    ],
)
def test_a_malformed_conversation_is_refused_with_the_index_of_the_message(
    messages: Any, index: int | None, message: str
) -> None:
    with pytest.raises(ConversationError, match=message) as caught:
        BYTES.render_conversation({"messages": messages})
    assert caught.value.index == index
    assert isinstance(caught.value, ValueError)
    assert str(caught.value).endswith(f"{caught.value.problem}; {caught.value.hint}")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("messages", "index", "message"),
    [
        ([], None, "it has no messages"),
        ([user("a")], 0, r"messages\[0\]\.role: it is 'user' .*last message must be the assistant"),
        ([user("a"), assistant("b"), user("c")], 2, "it is 'user' in message 3 of 3"),
        ([assistant("a")], 0, "after one of the user"),
        ([user("a"), "b"], 1, "it is None"),
        ([system("a"), assistant("b")], 0, "no message follows the system message"),
        ([user(1), assistant("b")], 0, "it is 1; expected a text"),
    ],
)
def test_a_conversation_that_cannot_be_completed_is_refused(
    messages: list[Any], index: int | None, message: str
) -> None:
    with pytest.raises(ConversationError, match=message) as caught:
        BYTES.render_for_completion({"messages": messages})
    assert caught.value.index == index


def test_tokens_are_shown_between_bars_in_colours() -> None:
    red, green, grey, reset = "\x1b[91m", "\x1b[92m", "\x1b[90m", "\x1b[0m"
    ids, mask = BYTES.render_conversation({"messages": [user("A"), assistant("B")]}, max_tokens=6)
    names = ["<|bos|>", "<|user_start|>", "A", "<|user_end|>", "<|assistant_start|>"]
    cells = [f"{red}{name}{reset}" for name in names] + [f"{green}B{reset}"]
    assert BYTES.visualize_tokenization(ids, mask) == "|".join(cells)
    numbered = [f"{text}|{grey}({id}){reset}" for text, id in zip(cells, ids, strict=True)]
    assert BYTES.visualize_tokenization(ids, mask, with_token_id=True) == "|".join(numbered)
