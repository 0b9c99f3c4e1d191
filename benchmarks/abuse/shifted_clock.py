"""Run `nacre` with a clock that is wrong: python -m benchmarks.abuse.shifted_clock SECONDS ARGUMENTS..."""

import sys
import time


def shift(seconds: int) -> None:
    """Set the clock of this process ahead."""
    now, now_ns = time.time, time.time_ns
    time.time = lambda: now() + seconds
    time.time_ns = lambda: now_ns() + seconds * 10**9


if __name__ == "__main__":
    shift(int(sys.argv.pop(1)))
    from nacre.serving.cli.main import main

    main()
