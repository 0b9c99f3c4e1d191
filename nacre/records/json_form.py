"""Records to JSON-plain data and back: Record <-> dict, by the types of the record."""

from collections.abc import Hashable, Mapping
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter

T = TypeVar("T")


@cache
def _adapter(kind: Hashable) -> TypeAdapter[Any]:
    return TypeAdapter(cast(Any, kind))


def prepare_adapters(*kinds: type) -> None:
    """Work out now how records of these types are written, which takes a tenth of a second at first use."""
    for kind in kinds:
        _adapter(cast(Hashable, kind))


def to_json(record: object) -> Any:
    """JSON-plain data (dict, list, str, number, bool, None) for a frozen record."""
    return _adapter(cast(Hashable, type(record))).dump_python(record, mode="json")


class RecordDict(dict[str, Any]):
    """JSON-plain data that carries the record it was made of, so that who gets it in the same process need not make
    the record again. Nobody changes it."""

    __slots__ = ("record",)

    def __init__(self, record: object, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(to_json(record) if data is None else data)
        self.record = record


def json_text(record: object) -> str:
    """The same data as text, fields in their order; faster than by way of Python's objects."""
    return _adapter(cast(Hashable, type(record))).dump_json(record).decode()


def from_json(kind: type[T], data: Any) -> T:
    """The record of type `kind` that `to_json` gave `data` for; raises pydantic.ValidationError on other data."""
    if isinstance(data, RecordDict) and type(data.record) is kind:
        return data.record
    record: T = _adapter(cast(Hashable, kind)).validate_python(data)
    return record
