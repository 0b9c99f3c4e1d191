"""Progress of an ingest: (stage, done, total) -> a bar on a terminal, else one line per stage; on stderr."""

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

ProgressCallback = Callable[[str, int, int], None]


@contextmanager
def print_warnings(*names: str) -> Iterator[None]:
    """Print the warnings of some loggers as lines on stderr."""
    handler = logging.StreamHandler()
    handler.setLevel(logging.WARNING)
    handler.setFormatter(logging.Formatter("warning: %(message)s"))
    levels = {logger: logger.level for logger in map(logging.getLogger, names)}
    for logger, level in levels.items():
        logger.addHandler(handler)
        logger.setLevel(min(level, logging.WARNING) if level else logging.WARNING)
        # the root logger has a handler too
        logger.propagate = False
    try:
        yield
    finally:
        for logger, level in levels.items():
            logger.removeHandler(handler)
            logger.setLevel(level)
            logger.propagate = True


@contextmanager
def show_progress() -> Iterator[ProgressCallback]:
    """The callback to which a pipeline reports its progress."""
    if sys.stderr.isatty():
        yield from _bar()
    else:
        yield from _lines()


def _bar() -> Iterator[ProgressCallback]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:<10}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks = {}

        def on_stage(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=total or None)
            bar.update(tasks[stage], completed=done, total=total or None)

        yield on_stage


def _lines() -> Iterator[ProgressCallback]:
    current, started = "", time.perf_counter()

    def print_stage() -> None:
        if current:
            sys.stderr.write(f"{current}: {time.perf_counter() - started:.1f} s\n")

    def on_stage(stage: str, done: int, total: int) -> None:
        nonlocal current, started
        if stage != current:
            print_stage()
            current, started = stage, time.perf_counter()

    yield on_stage
    print_stage()
