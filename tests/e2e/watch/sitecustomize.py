"""In the processes of servers under test: notes what the event loop works on for longer than it may.

Python imports this by its name when it starts. CPU time of the loop's thread counts, so that a busy machine is no
fault; what happens before the server listens does not.
"""

import asyncio
import os
import sys
import threading
import time
import traceback

MOST_SECONDS = 0.05
told = os.environ.get("LOOP_TOLD")
if told:
    # its callbacks run where Python can't look
    sys.modules["uvloop"] = None  # type: ignore[assignment]
    run, create_server = asyncio.Handle._run, asyncio.base_events.BaseEventLoop.create_server
    listening = False
    seen: list[str] = []

    def look(loop: int) -> None:
        while True:
            time.sleep(0.01)
            # what is ours, and where that led to
            frames = traceback.format_stack(sys._current_frames()[loop])
            seen.append("".join([*(each for each in frames[:-3] if "site-packages" not in each), *frames[-3:]]))
            del seen[:-3]

    def watched(self: asyncio.Handle) -> None:
        if not listening:
            return run(self)
        started = time.thread_time()
        seen.clear()
        run(self)
        took = time.thread_time() - started
        if took > MOST_SECONDS:
            with open(str(told), "a") as out:
                out.write(f"{took:.3f} s, of which was seen:\n{''.join(seen[-1:])}\n")
        return None

    async def create(self: asyncio.base_events.BaseEventLoop, *args: object, **kwargs: object) -> object:
        global listening
        server = await create_server(self, *args, **kwargs)  # type: ignore[call-overload]
        if not listening:
            threading.Thread(target=look, args=[threading.get_ident()], daemon=True).start()
        listening = True
        return server

    asyncio.Handle._run = watched  # type: ignore[method-assign]
    asyncio.base_events.BaseEventLoop.create_server = create  # type: ignore[assignment, method-assign]
