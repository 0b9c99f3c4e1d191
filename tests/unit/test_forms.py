"""The shape of questions in everyday words; the pairs in fixtures/understanding are extended without Python."""

from typing import Any

import pytest

from semantics.bounds import Bound
from semantics.markers import Comparative, Superlative, form
from semantics.periods import periods
from semantics.words import tokens
from tests.pairs import pairs


@pytest.mark.parametrize("case", pairs("forms"))
def test_form(case: dict[str, Any]) -> None:
    assert _shape(case["ask"]) == {key: case[key] for key in case if key not in ("ask", "open")}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("in March 2024", ["2024-03-01..2024-04-01"]),
        ("in December 1999", ["1999-12-01..2000-01-01"]),
        ("on the 5th of May 2019", ["2019-05-05..2019-05-06"]),
        ("May 5th, 2019", ["2019-05-05..2019-05-06"]),
        ("Feb 29 2024", ["2024-02-29..2024-03-01"]),
        ("2019-05", ["2019-05-01..2019-06-01"]),
        ("from 2019-12-31 to 1 Jan. 2020", ["2019-12-31..2020-01-01", "2020-01-01..2020-01-02"]),
        ("the 1990s", ["1990-01-01..2000-01-01"]),
        ("30 February 2024, 2019-13-01 and room 2019", []),
    ],
)
def test_periods(text: str, found: list[str]) -> None:
    assert [f"{p.first}..{p.after}" for p in periods(text)] == found
    assert all(text[p.start : p.end].strip() == text[p.start : p.end] for p in periods(text))


def _shape(question: str) -> dict[str, Any]:
    """What a form holds, as the pairs write it."""
    words = tokens(question)
    found = form(question, words)

    def said(marker: Superlative | Comparative) -> str:
        return " ".join(t.norm for t in words[marker.start : marker.end])

    shape = {
        "superlatives": {said(s): _direction(s) for s in found.superlatives},
        "comparatives": {said(c): "up" if c.descending else "down" for c in found.comparatives},
        "bounds": [_bound(b) for b in found.bounds],
        "aggregates": {words[i].norm: function for i, function in found.aggregates},
        "negations": [words[i].norm for i in found.negations],
        "unit": found.unit,
    }
    return {"asked": found.asked} | {key: value for key, value in shape.items() if value}


def _direction(marker: Superlative) -> str:
    said = "up" if marker.descending else "down"
    said += f" place {marker.place}" if marker.place != 1 else ""
    return said + (f" limit {marker.limit}" if marker.limit != 1 else "")


def _bound(bound: Bound) -> str:
    if bound.period is not None:
        return f"{bound.op} {bound.period.first}..{bound.period.after}"
    return f"{bound.op} {bound.quantity.value:g} {bound.quantity.unit}".rstrip()
