"""Random input with new seeds, for FUZZ_SECONDS (60) in all: no reader, guard or route breaks down.

A failure prints its seed, and `python -m benchmarks.fuzz PART --seed SEED` repeats it.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from benchmarks.fuzz.guard import check_guarded
from benchmarks.fuzz.readers import fuzz_readers
from benchmarks.fuzz.run import run_for
from benchmarks.inputs.sparql_texts import query_texts

ROOT = Path(__file__).parents[2]
SECONDS = float(os.environ.get("FUZZ_SECONDS", "60")) / 3
# the last input may take longer than the time
GRACE_SECONDS = 240


def fuzz(part, *options):
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.fuzz", part, "--seconds", f"{SECONDS}", *options],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=SECONDS + GRACE_SECONDS,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-4000:]
    counted = re.search(rf"{part}: (\d+) inputs .* from seed \d+", done.stdout)
    assert counted is not None, done.stdout
    assert int(counted[1]) > 0
    print(done.stdout)


def test_no_request_breaks_the_server_nor_gets_an_undocumented_status(server):
    fuzz("routes", "--address", server)
    assert httpx.get(f"{server}/healthz").status_code == 200


def test_two_parsers_read_what_the_guard_lets_through_in_one_way():
    fuzz("guard")


def test_damaged_answers_and_files_are_read_or_refused():
    fuzz("readers")


def test_a_failure_names_a_seed_that_repeats_it():
    def fails_at_service(text):
        check_guarded(text)
        assert "SERVICE <http" not in text

    failed = run_for("guard", query_texts(), fails_at_service, 60, 5)
    assert "SERVICE <http" in failed.failure
    again = run_for("guard", query_texts(), fails_at_service, 60, failed.seed)
    assert again.seed == failed.seed
    assert "SERVICE <http" in again.failure


@pytest.mark.parametrize("how", ["os.abort()", "raise MemoryError", "exit(3)"])
def test_a_reader_that_takes_its_process_down_is_a_failure(how, tmp_path, monkeypatch):
    (tmp_path / "input.ttl").write_bytes(b"the last input")
    program = tmp_path / "benchmarks" / "fuzz"
    program.mkdir(parents=True)
    # without these files the installed package would be run
    (program / "__init__.py").touch()
    (program.parent / "__init__.py").touch()
    (program / "readers.py").write_text(f"import os\n{how}\n")
    monkeypatch.setattr("benchmarks.fuzz.readers.ROOT", tmp_path)
    monkeypatch.setattr("benchmarks.fuzz.readers.environment", lambda _: {"PYTHONPATH": str(tmp_path)})
    failed = fuzz_readers(1, 7, tmp_path)
    assert failed.seed == 7
    assert "the last input" in failed.failure
