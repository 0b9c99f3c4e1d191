"""A value as JSON that every database can read: value -> text."""

import json
from collections.abc import Mapping
from typing import Any


def json_text(value: Any) -> str:
    """JSON without NUL, which PostgreSQL does not read even where it is escaped.

    >>> json_text({"a": ["b\\0", 1]})
    '{"a": ["b\ufffd", 1]}'
    """
    text = json.dumps(value, ensure_ascii=False)
    return json.dumps(_without_nul(value), ensure_ascii=False) if "\\u0000" in text else text


def _without_nul(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\0", "\ufffd")
    if isinstance(value, Mapping):
        return {_without_nul(key): _without_nul(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nul(each) for each in value]
    return value
