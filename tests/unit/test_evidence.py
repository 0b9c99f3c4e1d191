"""Evidence as data and back, in the form of today and in that of threads that were kept before."""

from dataclasses import replace
from typing import Any

import pytest

from nacre.records.evidence import BranchResult, Evidence, EvidenceSentence, Query, Rows, Table
from nacre.records.json_form import from_json, to_json
from nacre.records.turn import EarlierTurn

TRIPLE = ("http://ex.org/dal", "http://ex.org/simmers", "35 min")
ROWS = Rows(
    "sql", 1, Table(("dish",), (("dal",),)), text="dish: dal", words="dishes", query=Query("sql", 1, "SELECT 1")
)
FACT = EvidenceSentence("lexical", 1, "The dal simmers for 35 min.", title="dal", score=0.5, triples=(TRIPLE,))
TEXT = EvidenceSentence("vector", 1, "Dal needs time.", document="dal.md", start=3, end=18)
# one record for both kinds, with all fields of either
BEFORE = {
    "text": "", "title": "", "score": 0.0, "reading": None, "query": None, "beside": [], "table": None, "words": "",
    "keys": [], "triples": [], "document": None, "start": 0, "end": 0, "basis": "", "confirmed": False,
    "probability": None,
}  # fmt: skip


@pytest.mark.parametrize("evidence", [ROWS, FACT, TEXT])
def test_evidence_survives_its_json_form(evidence: Evidence) -> None:
    found = BranchResult("sql", (evidence,))
    assert from_json(BranchResult, to_json(found)) == found


@pytest.mark.parametrize("evidence", [ROWS, replace(ROWS, reading=0, probability=0.5), FACT, TEXT])
def test_what_a_thread_kept_before_is_read(evidence: Evidence) -> None:
    kept: dict[str, Any] = {**BEFORE, **to_json(evidence)}
    turn = from_json(EarlierTurn, {"question": "q", "standalone": "q", "answer": "a", "evidence": [kept]})
    assert turn.evidence == (evidence,)


def test_the_rows_among_what_was_found() -> None:
    assert BranchResult("sql", (FACT, ROWS, TEXT)).rows == (ROWS,)
