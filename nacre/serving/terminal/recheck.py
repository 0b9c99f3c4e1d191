"""Check the verified questions of a graph after it was published: settings + name -> printed lines.

Nothing is checked if there are none. Those of an attached graph are checked at their first use.
"""

import asyncio
import sqlite3
from typing import TYPE_CHECKING

from nacre.serving.terminal.command_names import adapt_commands
from nacre.serving.terminal.open_library import open_library
from nacre.serving.terminal.turn_display import print_line

if TYPE_CHECKING:
    from nacre.config.settings import Settings


def recheck_verified_questions(settings: "Settings", name: str) -> None:
    """Run those of an earlier version again, within CHECK_SECONDS, and print which are not used any more."""
    with open_library(settings) as library:
        try:
            if not library.verified.count(name):
                return
            from nacre.access.verified.calibrate import calibrate_graph, is_due
            from nacre.access.verified.check import check_all
            from tools.guards.sandbox import Sandbox

            sandbox = Sandbox()
            try:
                with library.open(name) as graph:
                    report = asyncio.run(check_all(graph, library.verified, settings, sandbox))
                    aside = library.verified.count(name, states=("failed", "empty", "changed kind", "replaced"))
                    if is_due(graph, library.verified):
                        found = asyncio.run(calibrate_graph(graph, library.verified, settings, sandbox))
                        print_line(found.words)
            finally:
                sandbox.close()
        except sqlite3.Error as error:
            # the graph is published and answers without them
            print_line(f"warning: the verified questions were not checked ({error})")
            return
    if report.checked:
        print_line(f"{report.checked} verified questions were checked; {len(report.changed)} have new values.")
    if report.left:
        print_line(f"{report.left} verified questions were not checked in time.")
    if aside or report.left:
        left_out = f"{aside} verified questions are not used until you look at them. " if aside else ""
        print_line(adapt_commands(f"{left_out}Run: nacre examples check --graph {name}"))
