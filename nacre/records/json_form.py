"""Convert records to JSON data and back, by the types of their fields: record <-> dict."""

from collections.abc import Hashable, Mapping
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter

T = TypeVar("T")


@cache
def _adapter(kind: Hashable) -> TypeAdapter[Any]:
    return TypeAdapter(cast(Any, kind))


def prepare_adapters(*kinds: type) -> None:
    """Build the adapters of these record types now. The first use would take a tenth of a second longer."""
    for kind in kinds:
        _adapter(cast(Hashable, kind))


def to_json(record: object) -> Any:
    """The JSON data (dict, list, str, number, bool, None) of a frozen record."""
    return _adapter(cast(Hashable, type(record))).dump_python(record, mode="json")


class RecordDict(dict[str, Any]):
    """The JSON data of a record, with the record itself. A receiver in the same process takes the record and need not
    parse the data. Do not change the data."""

    __slots__ = ("record",)

    def __init__(self, record: object, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(to_json(record) if data is None else data)
        self.record = record


def json_text(record: object) -> str:
    """The JSON text of a record, its fields in order; faster than dumping the data of `to_json`."""
    return _adapter(cast(Hashable, type(record))).dump_json(record).decode()


def from_json(kind: type[T], data: Any) -> T:
    """The record of type `kind` that `data` is the JSON data of; raises pydantic.ValidationError for other data."""
    if isinstance(data, RecordDict) and type(data.record) is kind:
        return data.record
    record: T = _adapter(cast(Hashable, kind)).validate_python(data)
    return record
