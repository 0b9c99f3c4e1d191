"""A `multiprocessing` context that starts processes without running the main script again."""

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
    """As "spawn", but the main script is not run again in each process, which a script without
    `if __name__ == "__main__"` would do. Functions that run in the processes must not be defined in that script."""

    Process = _Process


@contextmanager
def _without_script() -> Iterator[None]:
    """Processes that this thread starts meanwhile get no main script; `multiprocessing` has no option for that."""
    own = threading.get_ident()
    with _lock:
        original = spawn.get_preparation_data

        def without_main(name: str) -> dict[str, Any]:
            prepared_data: dict[str, Any] = original(name)
            if threading.get_ident() == own:
                prepared_data.pop("init_main_from_name", None)
                prepared_data.pop("init_main_from_path", None)
            return prepared_data

        spawn.get_preparation_data = without_main
        try:
            yield
        finally:
            spawn.get_preparation_data = original
