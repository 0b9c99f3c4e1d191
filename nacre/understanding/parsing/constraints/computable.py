"""Readings that compute with numbers only: Candidates -> those left."""

from nacre.understanding.parsing.state import Candidate, ParseContext
from nacre.understanding.question.types import Ref


def drop_computed_texts(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Return the readings that add up and average numbers alone: dates have no sum, and texts no average."""
    return [each for each in candidates if not _computes_with_texts(each, context)]


def _computes_with_texts(candidate: Candidate, context: ParseContext) -> bool:
    d = candidate.derivation
    terms: list[tuple[str, Ref]] = [(target.function, target.ref) for target in d.targets]
    terms += [(condition.function, condition.ref) for condition in d.conditions]
    terms += [(d.order.function, d.order.ref)] if d.order is not None else []
    added = {ref.predicate for function, ref in terms if function == "sum" and ref.predicate}
    averaged = {ref.predicate for function, ref in terms if function == "avg" and ref.predicate}
    graph = context.graph
    return any(not graph.is_numeric(each) for each in added | averaged) or any(map(graph.is_date, added))
