"""Channels for the fields that the nodes of one run pass on to each other and that no checkpoint keeps.

See docs/decisions/0031-transient-channels.md.
"""

from collections.abc import Callable, Sequence
from typing import Any, Self

from langgraph.channels import UntrackedValue


class TransientValue(UntrackedValue[Any]):
    """The last value of a field in this run."""

    def __init__(self, typ: type[Any] = object, guard: bool = False) -> None:
        super().__init__(typ, guard)


class TransientReducer(TransientValue):
    """The values that several nodes of this run give for a field, combined by `reduce`."""

    def __init__(self, reduce: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        self.reduce = reduce

    def copy(self) -> Self:
        """The same channel with its value."""
        same = self.from_checkpoint(None)
        same.value = self.value
        return same

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """The channel at the start of a run: empty, whatever an older version kept in a checkpoint."""
        empty = self.__class__(self.reduce)
        empty.key = self.key
        return empty

    def update(self, values: Sequence[Any]) -> bool:
        """Add the values of the nodes of one step."""
        for value in values:
            self.value = self.reduce(self.value, value) if self.is_available() else value
        return bool(values)
