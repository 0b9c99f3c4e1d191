"""A result that several threads need at once is computed by one of them."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from nacre.records.threads import compute_once


def test_threads_that_need_the_same_result_wait_for_the_one_that_computes_it() -> None:
    calls = []

    @compute_once(8)
    def slow(key: str) -> str:
        calls.append(key)
        time.sleep(0.1)
        return key.upper()

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(slow, ["a"] * 8 + ["b"] * 8))
    assert found == ["A"] * 8 + ["B"] * 8
    assert sorted(calls) == ["a", "b"]


def test_results_of_other_arguments_do_not_wait() -> None:
    started = threading.Barrier(2, timeout=10)

    @compute_once(8)
    def meet(key: str) -> int:
        return started.wait()

    with ThreadPoolExecutor(2) as pool:
        assert sorted(pool.map(meet, ["a", "b"])) == [0, 1]


def test_after_an_error_the_next_thread_computes_the_result() -> None:
    calls = []

    @compute_once(8)
    def second_time(key: str) -> int:
        calls.append(key)
        if len(calls) == 1:
            raise ValueError("not yet")
        return len(calls)

    with pytest.raises(ValueError, match="not yet"):
        second_time("a")
    assert second_time("a") == second_time("a") == 2
