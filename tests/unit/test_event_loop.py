"""The loop of the server is uvloop's, and Python's own where that is missing."""

import asyncio
import sys

import pytest

from nacre.serving.http.middleware import new_event_loop


async def _named() -> str:
    await asyncio.sleep(0)
    return type(asyncio.get_running_loop()).__module__


def _run() -> str:
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(_named())


@pytest.mark.skipif(sys.platform == "win32", reason="uvloop does not know Windows")
def test_uvloop_runs_what_serves() -> None:
    assert _run().startswith("uvloop")


def test_pythons_own_loop_runs_it_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert _run().startswith("asyncio")
