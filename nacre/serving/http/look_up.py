"""The slot of a look-up, as a dependency of routes that are plain functions: request -> the slot, held until its end.

A look-up is told to stop when its client disconnects or after NACRE_BRANCH_SECONDS.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Annotated

from fastapi import Depends, Request

from nacre.errors import ConfigError
from nacre.records.cancellation import CancelToken, WorkCancelled, cancel_token
from nacre.serving.http.auth import CallerDep
from nacre.serving.http.dependencies import TurnServiceDep
from nacre.serving.http.disconnect import run_while_connected, wait_for_disconnect


async def hold_look_up_slot(request: Request, service: TurnServiceDep, caller: CallerDep) -> AsyncIterator[None]:
    """Hold a slot while a route runs. Work that was told to stop becomes an error of the request."""
    seconds = service.composition.settings.branch_seconds
    token = CancelToken()
    async with AsyncExitStack() as stack:
        await run_while_connected(request, stack.enter_async_context(service.look_up_slot(caller)))
        # the thread of the route runs with a copy of this context
        cancel_token.set(token)
        watching = asyncio.create_task(_cancel_in_time(request, token, seconds))
        stack.callback(watching.cancel)
        try:
            yield
        except WorkCancelled:
            raise ConfigError(f"This look-up was stopped after {seconds:g} seconds. Ask for less.") from None


async def _cancel_in_time(request: Request, token: CancelToken, seconds: float) -> None:
    """Tell the work to stop when the client has disconnected, at the latest after so many seconds."""
    try:
        await asyncio.wait_for(wait_for_disconnect(request), seconds)
    except TimeoutError:
        pass
    finally:
        token.over = True


# released before the reply is sent, so that a slow reader holds no slot
LookUpSlotDep = Annotated[None, Depends(hold_look_up_slot, scope="function")]
