"""Renders a conversation to the text of its prompt."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from tokexport.chat.conversation import REASONING, plain, plain_messages, plain_objects
from tokexport.chat.environment import compiled
from tokexport.errors import ChatTemplateError

# Appended to the text to continue, and cut off with everything after it. If the template removed
# the space, it trims messages. The text of `transformers`, as a template may write it twice.
_MARK: Final = "CONTINUE_FINAL_MESSAGE_TAG "


def render(
    templates: Mapping[str, str],
    messages: Iterable[Mapping[str, Any]],
    *,
    template: str | None = None,
    tools: Iterable[Mapping[str, Any]] | None = None,
    documents: Iterable[Mapping[str, Any]] | None = None,
    add_generation_prompt: bool = False,
    continue_final_message: bool | str = False,
    variables: Mapping[str, Any] | None = None,
) -> str:
    """The text that a chat template produces from messages.

    ``templates`` are a model's by name; ``template`` is one of the names, or another template; the
    default is ``"tool_use"`` if there are tools, else ``"default"``. ``add_generation_prompt`` ends
    with the beginning of an answer; ``continue_final_message`` ends within the last message, in its
    content or in the named field. ``variables`` are further values that the template reads by name.

    Raises ChatTemplateError if there is no such template or it refuses the messages, and
    MissingLibraryError if jinja2 is not installed.

    >>> render({}, [{"role": "user", "content": "Hi"}], template="{{ messages[0].content }}!")
    'Hi!'
    """
    source = choose(templates, template, with_tools=tools is not None)
    conversation = plain_messages(messages)
    final = ""
    if continue_final_message:
        if add_generation_prompt:
            raise ChatTemplateError(
                "a prompt ends within the last message or with the beginning of the next one",
                "set either continue_final_message or add_generation_prompt",
            )
        name = "content" if continue_final_message is True else continue_final_message
        final = _mark(conversation[-1], name, source)
    values = {
        **plain(variables or {}),
        "messages": conversation,
        "tools": plain_objects("tool", tools, "its JSON schema, not the function itself"),
        "documents": plain_objects("document", documents, "an object with a title and a text"),
        "add_generation_prompt": add_generation_prompt,
    }
    text = _run(source, values)
    return _cut(text, final) if continue_final_message else text


def choose(templates: Mapping[str, str], template: str | None, *, with_tools: bool) -> str:
    """The source of the chosen template. ChatTemplateError if there is none."""
    if template is not None:
        return templates.get(template, template)
    for name in ("tool_use", "default") if with_tools else ("default",):
        if name in templates:
            return templates[name]
    if templates:
        raise ChatTemplateError(
            "the file has no default chat template",
            f"name one of these as chat_template (--template NAME): {', '.join(sorted(templates))}",
        )
    raise ChatTemplateError(
        "the file has no chat template",
        "give one as chat_template (--template FILE), or convert a source that has one",
    )


def _run(source: str, values: Mapping[str, Any]) -> str:
    program = compiled(source)
    try:
        return program.render(values)
    except Exception as error:  # a foreign program, which can fail in any way
        kind = type(error)
        refused = kind.__module__ == "jinja2.exceptions" and kind.__name__ == "TemplateError"
        what = "refuses these messages" if refused else f"failed with {kind.__name__}"
        raise ChatTemplateError(f"the chat template {what}: {error}") from error


def _mark(message: dict[str, Any], name: str, source: str) -> str:
    """Marks the end of a message's field, and returns the text to continue."""
    value = message.get(name)
    if value is None:
        raise ChatTemplateError(f"the last message has no {name} to continue", "give it one")
    # A message has its reasoning under several names.
    names = (
        [each for each in REASONING if message.get(each) == value] if name in REASONING else [name]
    )
    if not any(each in source for each in names):
        raise ChatTemplateError(f"the chat template never reads {name}, so nothing can continue it")
    if isinstance(value, (list, tuple)):
        blocks = (each for each in reversed(value) if isinstance(each, dict) and "text" in each)
        block = next(blocks, None)
        if block is None:
            raise ChatTemplateError("the last message has no text to continue", "give it one")
        value = block["text"]
        block["text"] = f"{value}{_MARK}"
    else:
        for each in names:
            message[each] = f"{value}{_MARK}"
    if not isinstance(value, str):
        raise ChatTemplateError(f"the {name} of the last message is no text to continue")
    return value


def _cut(text: str, final: str) -> str:
    at = text.rfind(_MARK.strip())
    if at < 0 or final.strip() not in text:
        raise ChatTemplateError(
            "the chat template leaves out a part of the last message, so it cannot be continued",
            "let the template end it, and ask for a new answer",
        )
    return text[:at] if text.startswith(_MARK, at) else text[:at].rstrip()
