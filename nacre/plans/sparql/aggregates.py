"""Aggregates in SPARQL: Aggregate + the variable that is aggregated -> expression."""

from nacre.plans.sparql.literal_values import is_numeric
from nacre.plans.sparql.terms import XSD
from nacre.plans.sparql.vocabulary import Vocabulary
from nacre.records.plan import Aggregate, Itself

# a value that no minimum or maximum of others equals
_FARTHEST_NUMBER = {"min": "1e308", "max": "-1e308"}
_FARTHEST_TEXT = {"min": '"\U0010ffff"', "max": '""'}


def aggregate_expression(term: Aggregate, value: str, vocabulary: Vocabulary) -> str:
    """An aggregate over the variable of a thing or value.

    An unbound value would make the whole aggregate an error in SPARQL, so COALESCE replaces it.
    """
    if isinstance(term.of, Itself) or term.function == "count":
        return f"COUNT(DISTINCT {value})"
    if vocabulary.dialect == "virtuoso":
        # Virtuoso's aggregates skip unbound values, its errors end the query, and it divides integers as integers
        mean = f"SUM(<{XSD}decimal>({value})) / COUNT({value})"
        return mean if term.function == "avg" else f"{term.function.upper()}({value})"
    if term.function in ("min", "max"):
        is_number = is_numeric(vocabulary.schema.predicate_of[term.of.predicate])
        farthest = (_FARTHEST_NUMBER if is_number else _FARTHEST_TEXT)[term.function]
        text = f"{term.function.upper()}(COALESCE({value}, {farthest}))"
    else:
        text = f"SUM(COALESCE({value}, 0))" + (f" / COUNT({value})" if term.function == "avg" else "")
    return f"IF(COUNT({value}) = 0, 1/0, {text})"
