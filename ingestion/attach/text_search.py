"""Detect the text search that an endpoint supports besides CONTAINS: BudgetedEndpoint -> TextSearch."""

from typing import get_args

from ingestion.attach.budget import BudgetedEndpoint
from nacre.language.tokens import tokenize
from nacre.records.endpoint import TextSearch
from nacre.stores.sparql.text_search import text_search_pattern

# minimum length of a tried word: stores do not index short words
LONG_ENOUGH = 4


def detect_text_search(asking: BudgetedEndpoint, names: tuple[str, ...]) -> TextSearch:
    """The first text search that finds a name by one of its words; "" if none does."""
    for predicate in names:
        named = asking.texts(f"SELECT ?l WHERE {{ ?s <{predicate}> ?l FILTER(isLiteral(?l)) }} LIMIT 20", 20) or []
        words = [t.norm for (text,) in named for t in tokenize(text) if len(t.norm) >= LONG_ENOUGH and t.norm.isalpha()]
        if not words:
            continue
        for kind in get_args(TextSearch):
            if kind:
                pattern = text_search_pattern(kind, (predicate,), words[:1])
                found = asking.texts(f"SELECT ?s WHERE {{ {pattern} }} LIMIT 1", 1)
                if found:
                    return kind  # type: ignore[no-any-return]
        return ""
    return ""
