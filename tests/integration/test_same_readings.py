"""The same question is understood in the same way in every process."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_readings_do_not_depend_on_the_seed_of_hashes(tmp_path: Path) -> None:
    started = []
    for seed in ("1", "4242"):
        (tmp_path / seed).mkdir()
        command = [sys.executable, "-m", "tests.support.print_readings", str(tmp_path / seed)]
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        started.append(
            subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        )
    (first, errors), (second, _) = [process.communicate() for process in started]
    assert [process.returncode for process in started] == [0, 0], errors.decode()
    one, other = first.decode().splitlines(), second.decode().splitlines()
    assert len(one) >= 40
    assert one == other
