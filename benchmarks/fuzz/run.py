"""Check one property with random input until the time is over: strategy, seconds and seed -> examples or a failure."""

import time
import traceback
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st

Value = TypeVar("Value")
# examples of one seed; the next one follows
ROUND = 200
SETTINGS = settings(
    max_examples=ROUND,
    database=None,
    deadline=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
    print_blob=False,
)


class FuzzResult(NamedTuple):
    """How many examples were checked; the failure of the last one, "" if none, and the seed that leads to it."""

    what: str
    examples: int
    failure: str
    seed: int


def run_for(
    what: str, strategy: st.SearchStrategy[Value], check: Callable[[Value], None], seconds: float, seed: int
) -> FuzzResult:
    """Check values of the strategy until the time is over; the seeds are `seed` and those that follow it."""
    until, examples = time.monotonic() + seconds, 0

    def count_and_check(value: Value) -> None:
        nonlocal examples
        if time.monotonic() < until or failed:
            examples += 1
            try:
                check(value)
            except BaseException:
                failed.append(True)
                raise

    failed: list[bool] = []
    while True:
        try:
            seeded(seed)(SETTINGS(given(strategy)(count_and_check)))()
        except Exception as error:
            return FuzzResult(what, examples, "".join(traceback.format_exception(error)), seed)
        if time.monotonic() >= until:
            return FuzzResult(what, examples, "", seed)
        seed += 1
