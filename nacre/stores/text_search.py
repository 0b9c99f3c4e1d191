"""Patterns that find names by their words, in the dialect of each store: words -> the inside of a WHERE."""

from collections.abc import Sequence

from nacre.records.endpoint import TextSearch

_FUSEKI = "http://jena.apache.org/text#query"
_STARDOG = "tag:stardog:api:property:textMatch"
_BLAZEGRAPH = "http://www.bigdata.com/rdf/search#search"


def holding_pattern(search: TextSearch, predicates: Sequence[str], words: Sequence[str]) -> str:
    """?s ?p ?l, where the literal ?l of one of the predicates holds one of the words (letters and digits alone).

    >>> holding_pattern("virtuoso", ("http://x.org/name",), ("new", "york"))
    'VALUES ?p { <http://x.org/name> } ?s ?p ?l . ?l <bif:contains> "\\'new\\' OR \\'york\\'" .'
    """
    named = f"VALUES ?p {{ {' '.join(f'<{p}>' for p in predicates)} }}"
    if search == "virtuoso":
        return f'{named} ?s ?p ?l . ?l <bif:contains> "{_any(words, quote=chr(39))}" .'
    if search == "fuseki":
        found = " UNION ".join(f'{{ (?s ?score ?l) <{_FUSEKI}> (<{p}> "{_any(words)}") }}' for p in predicates)
        return f"{found} {named} ?s ?p ?l ."
    if search == "stardog":
        return f'{named} ?s ?p ?l . ?l <{_STARDOG}> "{_any(words)}" .'
    if search == "blazegraph":
        return f'?l <{_BLAZEGRAPH}> "{" ".join(words)}" . {named} ?s ?p ?l .'
    # one look at each name; the first test is quick, the second tells whole words
    any_word = "|".join(words)
    bounded = f"(^|[^a-z0-9])({any_word})($|[^a-z0-9])"
    return f'{named} ?s ?p ?l FILTER(REGEX(?l, "{any_word}", "i") && REGEX(?l, "{bounded}", "i"))'


def _any(words: Sequence[str], quote: str = "") -> str:
    return " OR ".join(f"{quote}{word}{quote}" for word in words)
