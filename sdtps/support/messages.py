"""Sentences for people: plain English text that remembers its code and values, so that a page can translate it."""

from typing import Any

LONGEST = 400  # characters of a name or a value inside a sentence


def plain(text: str, longest: int = LONGEST) -> str:
    """One line of printable text: names of files, and names inside files, may hold anything at any length.

    Control characters could command a terminal, and marks of writing direction could turn a sentence around.
    """
    if len(text) > longest:
        text = f"{text[: longest // 2]}…{text[-(longest // 2) :]}"
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


class Message(str):
    """A sentence, usable wherever a string is.

    Args:
        code: stable name of the sentence, for translation and tests.
        template: the English sentence, with `{name}` for values.
        **values: the values.
    """

    code: str
    values: dict[str, Any]

    def __new__(cls, code: str, template: str, **values: Any) -> "Message":
        """Fill the template; texts among the values become one printable line."""
        values = {k: plain(v) if type(v) is str else v for k, v in values.items()}  # a nested sentence is plain already
        message = super().__new__(cls, template.format(**values))
        message.code = code
        message.values = values
        return message

    def __deepcopy__(self, _memo: dict[int, Any]) -> "Message":
        # Text does not change, and a copy could not be made from the text alone.
        return self

    @classmethod
    def restored(cls, code: str, text: str, values: dict[str, Any]) -> "Message":
        """A sentence that was written down before, with the text it had."""
        message = super().__new__(cls, plain(text, LONGEST * 5))
        message.code, message.values = code, values
        return message


def as_note(message: str) -> dict[str, Any]:
    """A sentence with its code and values, so that a page can say it in another language."""
    if not isinstance(message, Message):
        return {"code": None, "values": {}, "text": str(message)}
    return {"code": message.code, "values": {k: _plain(v) for k, v in message.values.items()}, "text": str(message)}


def _plain(value: Any) -> Any:
    if isinstance(value, Message):
        return as_note(value)
    return value if isinstance(value, int | float | str) else str(value)
