"""Patterns that find names by their words, in the dialect of each store: words -> the inside of a WHERE."""

from collections.abc import Sequence

from nacre.records.endpoint import TextSearch

_FUSEKI = "http://jena.apache.org/text#query"
_STARDOG = "tag:stardog:api:property:textMatch"
_BLAZEGRAPH = "http://www.bigdata.com/rdf/search#search"
# letters that a misspelt word must share with the name from its beginning: without an index, and with one of prefixes
START, INDEXED_START = 3, 4
SLIPS = 2


def text_search_pattern(
    search: TextSearch, predicates: Sequence[str], words: Sequence[str], near: Sequence[str] = ()
) -> str:
    """?s ?p ?l, where the literal ?l of one of the predicates holds one of the words (letters and digits alone), or a
    word that is spelt almost as one of `near`, so far as the search allows.

    >>> holding_pattern("virtuoso", ("http://x.org/name",), ("new", "yorck"), ("yorck",))
    'VALUES ?p { <http://x.org/name> } ?s ?p ?l . ?l <bif:contains> "\\'new\\' OR \\'yorck\\' OR \\'yorc*\\'" .'
    """
    named = f"VALUES ?p {{ {' '.join(f'<{p}>' for p in predicates)} }}"
    starts = list(dict.fromkeys(f"{word[:INDEXED_START]}*" for word in near))
    fuzzy = [f"{word}~{SLIPS}" for word in near]
    if search == "virtuoso":
        return f'{named} ?s ?p ?l . ?l <bif:contains> "{_any([*words, *starts], quote=chr(39))}" .'
    if search == "fuseki":
        wanted = _any([*words, *fuzzy])
        found = " UNION ".join(f'{{ (?s ?score ?l) <{_FUSEKI}> (<{p}> "{wanted}") }}' for p in predicates)
        return f"{found} {named} ?s ?p ?l ."
    if search == "stardog":
        return f'{named} ?s ?p ?l . ?l <{_STARDOG}> "{_any([*words, *fuzzy])}" .'
    if search == "blazegraph":
        return f'?l <{_BLAZEGRAPH}> "{" ".join([*words, *starts])}" . {named} ?s ?p ?l .'
    # one look at each name; the first test is quick, the second tells whole words
    spelt = [f"{word[:START]}[a-z]{{{len(word) - START - SLIPS},{len(word) - START + SLIPS}}}" for word in near]
    any_word = "|".join([*words, *(word[:START] for word in near)])
    bounded = f"(^|[^a-z0-9])({'|'.join([*words, *spelt])})($|[^a-z0-9])"
    return f'{named} ?s ?p ?l FILTER(REGEX(?l, "{any_word}", "i") && REGEX(?l, "{bounded}", "i"))'


def _any(words: Sequence[str], quote: str = "") -> str:
    return " OR ".join(f"{quote}{word}{quote}" for word in words)
