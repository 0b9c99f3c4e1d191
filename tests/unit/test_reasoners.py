from typing import Any

import pytest

from evaluation.compare_reasoners import compare_reasoners, main

GOLD = [{"id": n, "question": "?", "answers": [n]} for n in (1, 2)]


def record(n: int, values: list[int], price: float | None, calls: int = 0) -> Any:
    tokens = {"input_tokens": 100 * calls, "cached_tokens": 60 * calls, "output_tokens": 7 * calls}
    return (
        {"id": n, "values": values, "status": "answered", "answer": "", "llm_calls": calls, "price": price}
        | tokens
        | {"seconds": 0.5}
    )


def test_the_minds_stand_side_by_side() -> None:
    rules = {1: record(1, [1], 0.0), 2: record(2, [9], 0.0)}
    model = {1: record(1, [9], 0.01, 1), 2: record(2, [2], 0.02, 3)}
    table = compare_reasoners(GOLD, {"rules": rules, "model": model}).splitlines()  # type: ignore[arg-type]
    assert table[1].split() == ["rules", "1/2", "0.00", "0", "0", "0", "$0.0000", "0.50"]
    assert table[2].split() == ["model", "1/2", "2.00", "100", "40", "7", "$0.0300", "0.50"]
    assert table[3:] == ["by model, not by rules: 2", "by rules, not by model: 1"]


def test_a_price_that_is_not_known_is_not_added_up() -> None:
    answers = {"rules": {1: record(1, [1], 0.0)}, "model": {1: record(1, [1], None, 1)}}
    assert "unknown" in compare_reasoners(GOLD[:1], answers)  # type: ignore[arg-type]


def test_without_a_model_there_is_nothing_to_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NACRE_MODEL", "")
    with pytest.raises(SystemExit, match="NACRE_MODEL"):
        main()
