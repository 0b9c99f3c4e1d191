"""When work of one thread is to end: seconds of its processor, and seconds on the clock -> Deadline."""

import time
from typing import NamedTuple

# on a busy machine a thread may wait for so many times as long as it works
WAITING = 3.0


class Deadline(NamedTuple):
    """Processor time counts, so that a busy machine gives the same answers as a quiet one; the clock bounds it too.

    A thread can't have worked for longer than the clock went on, so that until `earliest` its processor, which takes
    ten times as long to read, need not be asked.
    """

    processor: float
    clock: float
    earliest: float

    def is_over(self) -> bool:
        """Whether the thread that it was made for should end."""
        now = time.monotonic()
        return now >= self.earliest and (now >= self.clock or time.thread_time() >= self.processor)


def within(seconds: float) -> Deadline:
    """The deadline of work that begins now and may take so many seconds of this thread's processor.

    >>> within(60).is_over(), within(0).is_over()
    (False, True)
    """
    now = time.monotonic()
    return Deadline(time.thread_time() + seconds, now + seconds * WAITING, now + seconds)
