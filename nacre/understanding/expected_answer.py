"""The kind of answer that a plan gives: Body -> ExpectedKind ("number", "entities", "boolean" ...)."""

from nacre.records.plan import (
    ARITHMETIC,
    ELAPSED,
    Aggregate,
    Ask,
    Body,
    Combine,
    Compute,
    Itself,
    Overview,
    Profile,
    Select,
)
from nacre.records.schema import Schema
from nacre.records.turn import ExpectedKind, Reading
from nacre.wording.phrases.plan import verbalise_plan


def expected_kind(body: Body | None, schema: Schema) -> ExpectedKind:
    """What a plan answers with. Without a plan a text is expected."""
    if body is None:
        return "text"
    if isinstance(body, Profile | Overview):
        return "prose"
    if isinstance(body, Ask) or (isinstance(body, Compute) and body.op not in ARITHMETIC | ELAPSED):
        return "boolean"
    if isinstance(body, Compute):
        return "number"
    select = body.left if isinstance(body, Combine) else body
    assert isinstance(select, Select)
    last = select.answers[-1]
    if isinstance(last, Itself):
        return "entities"
    if isinstance(last, Aggregate):
        return "number"
    predicate = schema.predicate_of[last.predicate]
    if predicate.datatype in ("date", "datetime"):
        return "date"
    return "number" if predicate.minimum is not None else "text"


def offered_kind(reading: Reading, schema: Schema) -> ExpectedKind | None:
    """What a reading from an earlier turn answers with. None if the graph no longer has what it is about."""
    try:
        verbalise_plan(reading.plan, schema)
        return expected_kind(reading.plan.body, schema)
    except KeyError:
        return None
