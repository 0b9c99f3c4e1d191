"""When work of one thread is to end: seconds of its processor, and seconds on the clock -> Deadline."""

import time
from typing import NamedTuple

# on a busy machine a thread may wait for so many times as long as it works
WAITING = 3.0


class Deadline(NamedTuple):
    """Processor time counts, so that a busy machine gives the same answers as a quiet one; the clock bounds it too."""

    processor: float
    clock: float

    def is_over(self) -> bool:
        """Whether the thread that it was made for should end."""
        return time.thread_time() >= self.processor or time.monotonic() >= self.clock

    def later(self, seconds: float) -> "Deadline":
        """The same, after work that is not to count."""
        return Deadline(self.processor + seconds, self.clock + seconds)


def within(seconds: float) -> Deadline:
    """The deadline of work that begins now and may take so many seconds of this thread's processor.

    >>> within(60).is_over(), within(0).is_over()
    (False, True)
    """
    return Deadline(time.thread_time() + seconds, time.monotonic() + seconds * WAITING)
