"""Records to JSON-plain data and back: Record <-> dict, by the types of the record."""

from collections.abc import Hashable
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter

T = TypeVar("T")


@cache
def _adapter(kind: Hashable) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def to_json(record: object) -> Any:
    """JSON-plain data (dict, list, str, number, bool, None) for a frozen record."""
    return _adapter(type(record)).dump_python(record, mode="json")


def from_json(kind: type[T], data: Any) -> T:
    """The record of type `kind` that `to_json` gave `data` for; raises pydantic.ValidationError on other data."""
    record: T = _adapter(kind).validate_python(data)
    return record
