"""Keep the calibration of graphs up to date with their verified questions, beside the turns of a server.

Only graphs whose calibration somebody asked for are calibrated.
"""

import asyncio
import logging
import sqlite3

from agents.run_in_thread import run_in_thread
from nacre.access.verified.calibrate import calibrate_graph, is_due
from nacre.errors import NacreError
from nacre.serving.turn_service import TurnService

# seconds between two looks at the graphs (given)
INTERVAL = 60.0
log = logging.getLogger(__name__)


async def calibrate_again_and_again(service: TurnService) -> None:
    """Look at all graphs in intervals, until it is cancelled."""
    while True:
        await asyncio.sleep(INTERVAL)
        for name in await run_in_thread(service.library.names):
            await calibrate_if_due(service, name)


async def calibrate_if_due(service: TurnService, name: str) -> bool:
    """Calibrate a graph with its verified questions if a number of them are new; whether it was. Errors are logged:
    the graph answers as before."""
    library, composition = service.library, service.composition
    try:
        if not await run_in_thread(library.verified.count, name):
            return False
        with await run_in_thread(library.open, name) as graph:
            if not await run_in_thread(is_due, graph, library.verified):
                return False
            sandbox = composition.resources.sandbox
            found = await calibrate_graph(graph, library.verified, composition.settings, sandbox)
            log.info("graph %s: %s", name, found.words)
            return True
    except (NacreError, sqlite3.Error, OSError) as error:
        log.warning("graph %s can't be calibrated now: %s", name, error)
        return False
