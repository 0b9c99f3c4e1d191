"""What the nodes of one run hand to each other and no checkpoint keeps: channels for the fields of `State`."""

from collections.abc import Callable, Sequence
from typing import Any, Self

from langgraph.channels import UntrackedValue


class TransientValue(UntrackedValue[Any]):
    """The last value of a field in this run; a run that goes on from a checkpoint begins without it."""

    def __init__(self, typ: type[Any] = object, guard: bool = False) -> None:
        super().__init__(typ, guard)


class TransientReducer(TransientValue):
    """What several nodes of this run bring, put together by `reduce`."""

    def __init__(self, reduce: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        self.reduce = reduce

    def copy(self) -> Self:
        """The same channel with its value."""
        same = self.from_checkpoint(None)
        same.value = self.value
        return same

    def from_checkpoint(self, checkpoint: Any) -> Self:
        """The channel as a run begins with it: empty, whatever an older version kept."""
        empty = self.__class__(self.reduce)
        empty.key = self.key
        return empty

    def update(self, values: Sequence[Any]) -> bool:
        """Add what the nodes of one step bring."""
        for value in values:
            self.value = self.reduce(self.value, value) if self.is_available() else value
        return bool(values)
