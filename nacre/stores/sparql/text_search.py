"""Full-text patterns in the dialect of each store: words -> the pattern of a WHERE clause."""

from collections.abc import Sequence

from nacre.records.endpoint import TextSearch

_FUSEKI = "http://jena.apache.org/text#query"
_STARDOG = "tag:stardog:api:property:textMatch"
_BLAZEGRAPH = "http://www.bigdata.com/rdf/search#search"
# initial letters that a misspelt word must share with the name: without an index, and with a prefix index
MIN_PREFIX, INDEXED_MIN_PREFIX = 3, 4
MAX_EDITS = 2


def text_search_pattern(
    search: TextSearch, predicates: Sequence[str], words: Sequence[str], near: Sequence[str] = (), pattern: str = ""
) -> str:
    """A pattern of ?s ?p ?l: the literal ?l of one of the predicates contains one of the words (letters and digits
    only), or a word of similar spelling to one of `near`, if the search supports that. With a `pattern` of ?s and ?l,
    that pattern instead of predicates; "" if the search does not support it.

    >>> text_search_pattern("virtuoso", ("http://x.org/name",), ("new", "yorck"), ("yorck",))
    'VALUES ?p { <http://x.org/name> } ?s ?p ?l . ?l <bif:contains> "\\'new\\' OR \\'yorck\\' OR \\'yorc*\\'" .'
    """
    named = f"VALUES ?p {{ {' '.join(f'<{p}>' for p in predicates)} }}"
    linked = pattern.removesuffix(" .") or f"{named} ?s ?p ?l"
    if pattern and search == "fuseki":
        return ""
    starts = list(dict.fromkeys(f"{word[:INDEXED_MIN_PREFIX]}*" for word in near))
    fuzzy = [f"{word}~{MAX_EDITS}" for word in near]
    if search == "virtuoso":
        return f'{linked} . ?l <bif:contains> "{_any([*words, *starts], quote=chr(39))}" .'
    if search == "fuseki":
        wanted = _any([*words, *fuzzy])
        found = " UNION ".join(f'{{ (?s ?score ?l) <{_FUSEKI}> (<{p}> "{wanted}") }}' for p in predicates)
        return f"{found} {named} ?s ?p ?l ."
    if search == "stardog":
        return f'{linked} . ?l <{_STARDOG}> "{_any([*words, *fuzzy])}" .'
    if search == "blazegraph":
        return f'?l <{_BLAZEGRAPH}> "{" ".join([*words, *starts])}" . {linked} .'
    # the first test is fast, the second matches whole words
    spelt = [
        f"{word[:MIN_PREFIX]}[a-z]{{{len(word) - MIN_PREFIX - MAX_EDITS},{len(word) - MIN_PREFIX + MAX_EDITS}}}"
        for word in near
    ]
    any_word = "|".join([*words, *(word[:MIN_PREFIX] for word in near)])
    bounded = f"(^|[^a-z0-9])({'|'.join([*words, *spelt])})($|[^a-z0-9])"
    return f'{linked} FILTER(REGEX(?l, "{any_word}", "i") && REGEX(?l, "{bounded}", "i"))'


def _any(words: Sequence[str], quote: str = "") -> str:
    return " OR ".join(f"{quote}{word}{quote}" for word in words)
