"""A process that times the patterns on its standard input, a line each, and writes a line for each one.

The alarm ends the process in the middle of a match, which no handler in Python could.
"""

import json
import re
import signal
import sys
import time
from typing import Any

from tests.support.pumped_texts import pumped_texts

SHORT, LONG = 1_000, 8_000
# eight times the text takes 8 times as long for a linear pattern, 64 times for a quadratic one
MAX_RATIO = 24
# a quadratic pattern takes at least 60 ms for the long text (measured), a linear one less than 2
MIN_SECONDS = 0.01


def main() -> None:
    """Write the number of each pattern before it is timed, and the text that is too slow after it. The argument: the
    seconds that all texts of a pattern may take."""
    for line in sys.stdin:
        case = json.loads(line)
        print(json.dumps({"begun": case["number"]}), flush=True)
        signal.setitimer(signal.ITIMER_PROF, float(sys.argv[1]))
        text = slow_text(case["pattern"], case["flags"], case["method"], case["is_bytes"])
        signal.setitimer(signal.ITIMER_PROF, 0)
        print(json.dumps({"done": case["number"], "slow": text}), flush=True)


def slow_text(pattern: str, flags: int, method: str, is_bytes: bool) -> str | None:
    """The beginning of a text for which the pattern takes more than in proportion, else None."""
    expression: re.Pattern[Any] = re.compile(pattern.encode("latin-1") if is_bytes else pattern, flags)
    for text in pumped_texts(re.compile(pattern, flags)):
        texts = [each.encode("latin-1", "replace") if is_bytes else each for each in (text(SHORT), text(LONG))]
        if seconds(expression, method, texts[1]) > MIN_SECONDS:
            short, long = (min(seconds(expression, method, each) for _ in range(2)) for each in texts)
            if long > MIN_SECONDS and long > MAX_RATIO * short:
                return text(12)
    return None


def seconds(expression: re.Pattern[Any], method: str, text: Any) -> float:
    start = time.process_time()
    if method == "finditer":
        for _ in expression.finditer(text):
            pass
    else:
        getattr(expression, method)(text)
    return time.process_time() - start


if __name__ == "__main__":
    main()
