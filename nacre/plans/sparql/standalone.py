"""One SPARQL query that alone gives the answer of a plan, without what is shown beside it: Plan -> SPARQL text."""

from nacre.errors import ToolError
from nacre.plans.sparql.pattern import Vocabulary
from nacre.plans.sparql.to_sparql import SparqlQuery, SparqlWriter, first_value_index, to_sparql
from nacre.plans.statement import RAW_TEXT_SUFFIX
from nacre.records.plan import ELAPSED, Ask, Combine, Compute, Plan, Select


def standalone_query(plan: Plan, words: Vocabulary) -> str:
    """One query that alone gives the answer: what is asked for, without what is shown beside it.

    Raises ToolError `refused` for a plan whose answer is prose, and for the time between two dates.
    """
    body = plan.body
    if isinstance(body, Select | Combine):
        return _alone(to_sparql(body, words))
    if isinstance(body, Ask):
        return f"ASK {{\n{to_sparql(body.select, words).text}\n}}"
    if isinstance(body, Compute) and body.op in ELAPSED:
        raise ToolError("refused", "The time between two dates is computed from two queries.")
    if isinstance(body, Compute):
        left, right = SparqlWriter(words, body.left, "l"), SparqlWriter(words, body.right, "r")
        sides = [side.sparql() for side in (left, right)]
        one, other = (side.names[first_value_index(side.outputs)] for side in sides)
        computed = f"100.0 * {one} / {other}" if body.op == "%" else f"{one} {body.op} {other}"
        return f"SELECT (({computed}) AS ?result) {{\n{{ {sides[0].text} LIMIT 1 }}\n{{ {sides[1].text} LIMIT 1 }}\n}}"
    raise ToolError("refused", "A description in words is no single query.")


def _alone(query: SparqlQuery) -> str:
    keys = [i for i, output in enumerate(query.outputs) if output.role != "key"]
    texts = {output.name.removesuffix(RAW_TEXT_SUFFIX) for output in query.outputs if output.role == "text"}
    shown = [query.names[i] for i in keys if query.outputs[i].role != "text" or not texts]
    projection = " ".join(dict.fromkeys(query.names))
    return query.text.replace(projection, " ".join(dict.fromkeys(shown)), 1)
