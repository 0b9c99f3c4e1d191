"""Labels that people can read: label -> the name in it, or "" if it is only a code or data."""

import json
import re

from nacre.language.base import phrase_list

# A UUID, or so many hexadecimal digits with letters among them, as in hashes.
_CODE = re.compile(r"[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12}|(?=.*\d)(?=.*[a-f])[0-9a-f]{16,}", re.IGNORECASE)
# Letters of JSON that is read, at most, and how deep its names may lie (given).
MAX_JSON_LETTERS, MAX_DEPTH = 20_000, 3


def readable_label(label: str) -> str:
    """The label itself, the name in a label that is JSON, or "" if it has none.

    >>> readable_label("Blue Van"), readable_label('{"id": "d8c6", "name": "Blue Van"}'), readable_label('{"id": 3}')
    ('Blue Van', 'Blue Van', '')
    >>> readable_label("3f2b8c1e-77aa-4c3b-9d7e-0a1b2c3d4e5f"), readable_label("decade")
    ('', 'decade')
    """
    text = label.strip()
    if text[:1] in ("{", "[") and text[-1:] in ("}", "]") and len(text) <= MAX_JSON_LETTERS:
        try:
            return _name_in(json.loads(text), MAX_DEPTH)
        except (ValueError, RecursionError):
            return label
    return "" if _CODE.fullmatch(text) else label


def _name_in(data: object, depth: int) -> str:
    """The name that JSON gives, by its key, in the order of the keys for names; texts in languages in their order."""
    if isinstance(data, str):
        return readable_label(data) if data[:1] not in ("{", "[") else ""
    if not depth:
        return ""
    if isinstance(data, list):
        return next(filter(None, (_name_in(each, depth - 1) for each in data[:1])), "")
    if not isinstance(data, dict):
        return ""
    by_key = {str(key).casefold(): value for key, value in data.items()}
    keys = (key for key in phrase_list("ingestion", "json_name_keys") if key in by_key)
    return next(filter(None, (_name_in(by_key[key], depth - 1) for key in keys)), "")
