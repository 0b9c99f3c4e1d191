"""One SPARQL query that alone gives the answer of a plan, without the columns shown beside it: Plan -> SPARQL text."""

from nacre.errors import ToolError
from nacre.plans.sparql.query import SparqlQuery, distinct_names, first_value_index
from nacre.plans.sparql.to_sparql import SparqlWriter, to_sparql
from nacre.plans.sparql.vocabulary import Vocabulary
from nacre.records.plan import ELAPSED, Ask, Combine, Compute, Plan, Select


def standalone_query(plan: Plan, vocabulary: Vocabulary) -> str:
    """One query whose result is the answer.

    Raises ToolError `refused` for a plan whose answer is prose, and for the time between two dates.
    """
    body = plan.body
    if isinstance(body, Select | Combine):
        return _answers_only(to_sparql(body, vocabulary))
    if isinstance(body, Ask):
        return f"ASK {{\n{to_sparql(body.select, vocabulary).text}\n}}"
    if isinstance(body, Compute) and body.op in ELAPSED:
        raise ToolError("refused", "The time between two dates is computed from two queries.")
    if isinstance(body, Compute):
        left = SparqlWriter(vocabulary, body.left, "l").query()
        right = SparqlWriter(vocabulary, body.right, "r").query()
        one, other = (side.names[first_value_index(side.outputs)] for side in (left, right))
        computed = f"100.0 * {one} / {other}" if body.op == "%" else f"{one} {body.op} {other}"
        return f"SELECT (({computed}) AS ?result) {{\n{{ {left.text} LIMIT 1 }}\n{{ {right.text} LIMIT 1 }}\n}}"
    raise ToolError("refused", "A description in words is no single query.")


def _answers_only(query: SparqlQuery) -> str:
    """The query without the IRIs of labels and without raw texts."""
    kept = [name for name, output in zip(query.names, query.outputs, strict=True) if output.role not in ("key", "text")]
    return query.text.replace(distinct_names(query.names), distinct_names(kept), 1)
