"""How our processes are started: a context of `multiprocessing` that leaves the program's own script alone."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import popen_spawn_posix, spawn
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any

_lock = threading.Lock()


class _Popen(popen_spawn_posix.Popen):
    def _launch(self, process_obj: Any) -> None:
        with _without_script():
            super()._launch(process_obj)  # type: ignore[misc]


class _Process(SpawnProcess):
    @staticmethod
    def _Popen(process_obj: Any) -> Any:
        return _Popen(process_obj)


class ScriptlessSpawnContext(SpawnContext):
    """As "spawn", but the script that was started is not run again in each process, as it would be where it has no
    `if __name__ == "__main__"`. What runs there must not lie in that script."""

    Process = _Process


@contextmanager
def _without_script() -> Iterator[None]:
    """What this thread starts meanwhile is told of no script; `multiprocessing` has no other way to leave it out."""
    own = threading.get_ident()
    with _lock:
        prepared = spawn.get_preparation_data

        def alone(name: str) -> dict[str, Any]:
            told: dict[str, Any] = prepared(name)
            if threading.get_ident() == own:
                told.pop("init_main_from_name", None)
                told.pop("init_main_from_path", None)
            return told

        spawn.get_preparation_data = alone
        try:
            yield
        finally:
            spawn.get_preparation_data = prepared
