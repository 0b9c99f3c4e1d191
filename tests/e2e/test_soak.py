"""All interfaces at once, for a few seconds; `make soak` does it for longer."""

import pytest

from benchmarks.soak_clients import KINDS, run


# some clients leave after milliseconds, while they connect: asyncio then leaves the socket to the garbage collection
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
async def test_all_interfaces_at_once_answer_rightly_and_leave_nothing_behind(data, serve):
    # clients of the page return to broken connections at once
    with serve(data, NACRE_RESUME_SECONDS="5") as (address, process):
        seen = await run(address, process.pid, 6, "reading-room")
    assert seen.wrong == []
    assert set(seen.done) == {kind.__name__ for kind in KINDS}
