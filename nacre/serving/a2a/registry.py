"""The tasks of a process: id -> whose task it is, in which conversation, and the run that works on it."""

from collections import OrderedDict
from dataclasses import dataclass

from nacre.serving.keys import Caller

# tasks whose conversation and run are remembered; later the store of conversations knows them by the id of a run
MAX_TASKS = 1000


@dataclass(frozen=True)
class TaskEntry:
    """One task. A task that asked which reading was meant is continued by another run."""

    id: str
    owner: str
    graph: str
    context: str
    run: str


class TaskRegistry:
    """The latest tasks of a process."""

    def __init__(self, max_tasks: int = MAX_TASKS) -> None:
        self._max_tasks = max_tasks
        self._entries: OrderedDict[str, TaskEntry] = OrderedDict()

    def put(self, entry: TaskEntry) -> None:
        """Remember a task as the latest one."""
        self._entries[entry.id] = entry
        self._entries.move_to_end(entry.id)
        while len(self._entries) > self._max_tasks:
            self._entries.popitem(last=False)

    def find(self, caller: Caller, id: str) -> TaskEntry | None:
        """A task of the caller about a graph that the caller may read, or None."""
        entry = self._entries.get(id)
        return entry if entry and entry.owner == caller.owner and caller.may_read(entry.graph) else None

    def listed(self, caller: Caller, context: str = "") -> list[TaskEntry]:
        """The caller's tasks, the latest first; only those of a conversation if it is named."""
        entries = (self.find(caller, id) for id in reversed(self._entries))
        return [entry for entry in entries if entry and context in ("", entry.context)]
