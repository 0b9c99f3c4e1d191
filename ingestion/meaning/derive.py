"""Derive triples by the meaning of common vocabularies: Facts -> Facts with derived triples, by rules in order. IRIs
that differ in spelling alone are one, codes get the descriptions of their table, names a property for each language;
links to IRIs that the graph does not describe become texts, and empty texts are hidden."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING
from unicodedata import is_normalized
from urllib.parse import urlsplit

import numpy as np

from ingestion.induce.names import expand_abbreviations, label_from_iri, lowercase_name, readable_name
from ingestion.meaning.draft import Draft, RuleStopped
from ingestion.read.facts import Facts, unique_counts
from ingestion.vocabulary import (
    ALTERNATIVE,
    LABEL,
    OWL,
    RDF,
    RDFS,
    SCHEMA_PREDICATES,
    SCHEMA_TYPES,
    SKOS,
    TYPE,
    local_name,
    name_rank,
)
from nacre.extension import services
from nacre.language.data import word_list
from nacre.language.tokens import language_names, language_property, multilingual_property, spelling

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.intp]
    Columns = dict[int, dict[int, list[int]]]


Rule = Callable[[Draft], None]


def join_spellings(draft: Draft) -> None:
    """Read IRIs that differ in their spelling alone as one, the one in most triples. Things that are linked with each
    other, such as a document and what it is about, and things without a common class stay two."""
    facts, iris = draft.facts, draft.iris
    marked = [
        iri
        for iri in iris
        if iri[-1:] == "/"
        or "%" in iri
        or (iri[:5] == "https" and f"http{iri[5:]}" in iris)
        or not (iri.isascii() or is_normalized("NFC", iri))
    ]
    forms: dict[str, set[int]] = defaultdict(set)
    for iri in marked:
        plain = spelling(iri)
        schemes = (plain, f"https{plain[4:]}") if plain.startswith("http:") else (plain,)
        if found := {iris[form] for start in schemes for form in (start, f"{start}/") if form in iris} - {iris[iri]}:
            forms[plain] |= found | {iris[iri]}
    words = {*draft.predicates, *draft.classes}
    for iri in words.intersection(marked):
        forms[spelling(iri)].add(iris[iri])
    forms = {plain: terms for plain, terms in forms.items() if len(terms) > 1}
    if not forms:
        return
    uses = np.bincount(np.concatenate((facts.subject, facts.predicate, facts.object)))
    other: dict[int, int] = {}
    for terms in forms.values():
        best, *rest = sorted(terms, key=lambda n: (-uses[n], draft.text(n)))
        kinds, links = _classes_and_ends(draft, best)
        for term in rest:
            own, ends = _classes_and_ends(draft, term)
            is_apart = term in links or best in ends or (own and kinds and not kinds & own)
            if not is_apart or draft.text(term) in words:
                other[term] = best
    if other:
        draft.replace_terms(other, SPELLING_REASON)


def name_undescribed_targets(draft: Draft) -> None:
    """If a property links almost only to undescribed IRIs, derive texts from these and hide the links."""
    facts = draft.facts
    described = np.zeros(len(facts.texts), dtype=bool)
    described[facts.subject] = True
    described[[subject for subject, *_ in draft.added if subject < len(described)]] = True
    is_iri = facts.kinds("iri")
    described[facts.object[facts.predicate == (draft.predicate(TYPE) or -1)]] = True
    described[facts.predicate] = True
    open_ = is_iri[facts.object] & ~described[facts.object]
    for number in unique_counts(facts.predicate[open_])[0].tolist():
        iri = draft.text(number)
        if iri in SCHEMA_PREDICATES or iri.startswith((OWL, RDF, RDFS, SKOS)):
            continue
        mine = facts.predicate == number
        targets = unique_counts(facts.object[mine & ~facts.is_literal[facts.object]])[0]
        rows = np.flatnonzero(mine & open_)
        bare = unique_counts(facts.object[rows])[0].tolist()
        if len(bare) >= MIN_UNDESCRIBED_SHARE * len(targets) and len(rows) <= MAX_UNDESCRIBED_LINKS:
            _replace_links(draft, iri, rows.tolist(), _target_texts(draft, iri, bare))
    _name_texts(draft)


def name_translations(draft: Draft) -> None:
    """If a property names things in several languages, derive a property for each: "German name"."""
    facts, names = draft.facts, language_names()
    tags = [sort[2].split("-")[0].lower() if sort[0] == "literal" else "" for sort in facts.sorts]
    for number in facts.predicates:
        if name_rank(draft.text(number)) is None:
            continue
        rows = np.flatnonzero((facts.predicate == number) & facts.is_literal[facts.object])
        sorts = facts.sort_of[facts.object[rows]]
        used: Counter[str] = Counter()
        for sort, times in zip(*(each.tolist() for each in np.unique(sorts, return_counts=True)), strict=True):
            used[tags[sort]] += times
        if len(used) < 2:
            continue
        known = [tag for tag, times in used.most_common() if tag in names and times >= FEWEST][:MOST]
        of = np.array([known.index(tag) if tag in known else -1 for tag in tags])
        rare = [bool(tag) and 0 < used[tag] < FEWEST for tag in tags]
        several = np.isin(facts.subject[rows], facts.subject[rows[1:]][np.diff(facts.subject[rows]) == 0])
        for row in rows[several & np.array(rare)[sorts]].tolist():
            # too few for a property of their own, but people may type them
            draft.add(int(facts.subject[row]), ALTERNATIVE, int(facts.object[row]))
        for place, tag in enumerate(known):
            here = rows[of[sorts] == place]
            iri = language_property(draft.text(number), tag)
            draft.derive(facts.subject[here], iri, facts.object[here])
            draft.add(draft.iri(iri), LABEL, draft.literal(f"{names[tag]} name"))
            for other in (f"name in {names[tag]}", f"{names[tag]} word", f"{names[tag]} translation"):
                draft.add(draft.iri(iri), ALTERNATIVE, draft.literal(other))


def expand_codes(draft: Draft) -> None:
    """If nearly all values of a column are codes of one list, replace them by their descriptions and hide codes and
    rows. Unless the names of column and list share a word, codes must have several letters and be in no other list."""
    lists = list(_lists(draft))
    if not lists:
        return
    used: set[int] = set()
    for owner, predicate, rows in _code_columns(draft, {code for each in lists for code in each.said}):
        objects = draft.facts.object[rows]
        terms, counts = unique_counts(objects)
        found = _list_of(draft, (owner, predicate), dict(zip(terms.tolist(), counts.tolist(), strict=True)), lists)
        if found is None:
            continue
        draft.replace_literals(
            rows, {t: found.said[text] for t in terms.tolist() if (text := draft.text(t)) in found.said}, CODE_REASON
        )
        used.update(found.rows)
    draft.hide([row for subject in sorted(used) for row in draft.rows_of(subject)], ROW)


def hide_empty_texts(draft: Draft) -> None:
    """Hide texts without a letter, a digit or a symbol: their subjects lack the property."""
    facts = draft.facts
    texts = facts.texts
    literals = np.flatnonzero(facts.is_literal).tolist()
    if all(map(str.strip, map(texts.__getitem__, literals))):
        return
    empty = [number for number in literals if not texts[number].strip()]
    draft.hide(np.flatnonzero(np.isin(facts.object, empty)).tolist(), EMPTY_REASON)


# those of the core; each reads what the previous ones derived
RULES: tuple[Rule, ...] = (join_spellings, name_undescribed_targets, name_translations, expand_codes, hide_empty_texts)

# of rules that replace facts or hide them, those that a database can follow: its queries read its columns as they are
STORED_RULES: tuple[Rule, ...] = (hide_empty_texts,)


def all_rules() -> tuple[Rule, ...]:
    """The rules of the core, each after those that extensions place before it by its name."""
    added, found = [*services("rules")], list[Rule]()
    for rule in (*RULES, None):
        found += [each for rules in added for each in rules.get(rule.__name__ if rule else "", ())]
        found += [rule] if rule else []
    return tuple(found)


def derive_facts(facts: Facts, rules: Sequence[Rule] | None = None) -> Facts:
    """The facts with derived triples, by default by all rules; the same object if none applies. `derived` marks them,
    hidden ones are in `aside`; the export has what was read. `limits` names rules that stopped at too much."""
    draft = Draft(facts)
    for rule in all_rules() if rules is None else rules:
        draft.budget.renew()
        try:
            rule(draft)
        except RuleStopped as error:
            # what it derived so far is kept
            draft.limits.append(f"{rule.__name__.replace('_', ' ')}: {error}")
        if rule is join_spellings and (joined := draft.finished_facts()) is not facts:
            draft = Draft(joined)
    return draft.finished_facts()


SPELLING_REASON = "another spelling of an IRI"


def _classes_and_ends(draft: Draft, term: int) -> tuple[set[str], set[int]]:
    rows = [draft.row(row) for row in draft.rows_of(term)]
    return {spelling(draft.text(o)) for _, p, o in rows if draft.text(p) == TYPE}, {o for _, _, o in rows}


# rows of a code table, facts of one, letters of a code, distinct codes that a column holds
MOST_ROWS, MOST_COLUMNS, LONGEST_CODE, MOST_CODES = 1000, 6, 20, 500

# minimum share of codes among the values of a column
MIN_CODED_SHARE = 0.95

MIN_ABBREVIATION = 3

CODE_REASON, ROW = "code that a table describes", "row of a code table"


@dataclass(frozen=True)
class CodeList:
    """The codes of one group with their descriptions; `words` name the group, `rows` are the rows of its table."""

    owner: int
    words: frozenset[str]
    said: dict[str, tuple[int, ...]]
    rows: tuple[int, ...]


def _lists(draft: Draft) -> Iterator[CodeList]:
    """All readings of a class as a code table: the column of the codes, and the column of the group, if any."""
    for owner, things in _bare_classes(draft):
        columns = _columns(draft, things)
        texts = {p: {s: draft.text(o[0]) for s, o in values.items()} for p, values in columns.items()}
        for code, group in product(texts, (None, *texts)):
            if code == group or not _are_codes(texts[code].values()):
                continue
            described = _description(texts, {code, group})
            groups: dict[str, list[int]] = defaultdict(list)
            for thing in things:
                groups[texts[group][thing] if group is not None else local_name(owner)].append(thing)
            if described is None or not _tells_apart(groups, texts[code], whole=group is None):
                continue
            for name, members in groups.items():
                said = {texts[code][s]: tuple(columns[described][s]) for s in members}
                yield CodeList(draft.iri(owner), _words(name), said, tuple(members))


def _bare_classes(draft: Draft) -> Iterator[tuple[str, list[int]]]:
    """Classes whose things only have a few literals, and to which nothing links."""
    facts, number = draft.facts, draft.predicate(TYPE)
    if number is None:
        return
    typing = facts.predicate == number
    size = len(facts.texts)
    said = ~typing
    bare = np.ones(size, dtype=bool)
    bare[facts.subject[said & ~facts.is_literal[facts.object]]] = False
    bare[facts.object[said]] = False
    bare &= np.bincount(facts.subject, minlength=size) <= MOST_COLUMNS + 1
    classes, members = facts.object[typing], facts.subject[typing]
    kept = np.ones(size, dtype=bool)
    kept[classes[~bare[members]]] = False
    here = kept[classes]
    order = np.argsort(classes[here], kind="stable")
    classes, members = classes[here][order], members[here][order]
    terms, counts = unique_counts(classes)
    if not len(terms):
        return
    for term, things in zip(terms.tolist(), np.split(members, np.cumsum(counts)[:-1]), strict=True):
        if 1 < len(things) <= MOST_ROWS and draft.text(term) not in SCHEMA_TYPES:
            yield draft.text(term), things.tolist()


def _columns(draft: Draft, things: list[int]) -> "Columns":
    """The values of properties that all things of a class have: by predicate, then by thing."""
    found: Columns = defaultdict(dict)
    for thing in things:
        for row in draft.rows_of(thing):
            _, predicate, target = draft.row(row)
            if draft.text(predicate) != TYPE:
                found[predicate].setdefault(thing, []).append(target)
    return {p: values for p, values in found.items() if len(values) == len(things)}


def _are_codes(texts: Iterable[str]) -> bool:
    return all(0 < len(text) <= LONGEST_CODE and not any(map(str.isspace, text)) for text in texts)


def _description(texts: dict[int, dict[int, str]], others: set[int | None]) -> int | None:
    """The column with the descriptions: the shortest with several words, else the longest with letters."""
    left = {p: list(said.values()) for p, said in texts.items() if p not in others}
    letters = {p: said for p, said in left.items() if all(any(map(str.isalpha, text)) for text in said)}
    length = {p: sum(map(len, said)) for p, said in letters.items()}
    in_words = [p for p, said in letters.items() if any(" " in text or text[1:] != text[1:].upper() for text in said)]
    if in_words:
        return min(in_words, key=lambda p: (length[p], p))
    return max(letters, key=lambda p: (length[p], p), default=None)


def _tells_apart(groups: dict[str, list[int]], codes: dict[int, str], *, whole: bool) -> bool:
    """Whether codes are unique in their group; and whether there are several groups of several codes each."""
    if any(len({codes[thing] for thing in members}) < len(members) for members in groups.values()):
        return False
    return whole or (len(groups) > 1 and 2 * len(groups) <= len(codes))


def _code_columns(draft: Draft, codes: set[str]) -> "Iterator[tuple[str, int, Rows]]":
    """(class, predicate, rows) of columns that may hold codes; a column belongs to the things of one class."""
    facts = draft.facts
    class_of = np.full(len(facts.texts), -1, dtype=np.int32)
    typing = facts.predicate == draft.predicate(TYPE)
    class_of[facts.subject[typing]] = facts.object[typing]
    literal = facts.is_literal
    known = np.fromiter((text in codes for text in facts.texts), dtype=bool, count=len(facts.texts)) & literal
    for predicate in unique_counts(facts.predicate[known[facts.object]])[0].tolist():
        rows = np.flatnonzero((facts.predicate == predicate) & literal[facts.object])
        if len(unique_counts(facts.object[rows])[0]) > MOST_CODES:
            continue
        owners = class_of[facts.subject[rows]]
        for owner in unique_counts(owners)[0].tolist():
            if owner >= 0:
                yield draft.text(owner), predicate, rows[owners == owner]


def _list_of(draft: Draft, column: tuple[str, int], held: dict[int, int], lists: list[CodeList]) -> CodeList | None:
    """The list of a column's codes, with the most similar name; `held` counts the values."""
    owner, name = column[0], local_name(draft.text(column[1]))
    texts = {text: count for term, count in held.items() if (text := draft.text(term)).strip()}
    own, around = _words(name), _words(local_name(owner))
    fitting: list[tuple[int, int, CodeList]] = []
    for each in lists:
        draft.budget.spend(1 + len(texts))
        known = sum(count for text, count in texts.items() if text in each.said)
        if draft.text(each.owner) == owner or not texts or known < MIN_CODED_SHARE * sum(texts.values()):
            continue
        shared = _shared(each.words, own)
        fitting.append((2 * shared + _shared(each.words, around) if shared else 0, -len(each.said), each))
    if not fitting:
        return None
    most = max(score for score, *_ in fitting)
    best = [each for score, _, each in fitting if score == most]
    if len({tuple(sorted(each.said.items())) for each in best}) > 1:
        return None
    if not most and (len(texts) < 2 or len(fitting) > 1 or any(len(t) < 2 or not t.isalpha() for t in texts)):
        return None
    return best[0]


def _words(name: str) -> frozenset[str]:
    """The words of a name, with abbreviations expanded, without words for codes."""
    said = frozenset(expand_abbreviations(lowercase_name(name.lower() if name.isupper() else name)).lower().split())
    return said - word_list("wording", "keys") or said


def _shared(some: frozenset[str], others: frozenset[str]) -> int:
    """The number of words of a name that another name contains, in full or abbreviated."""
    return sum(any(_alike(word, other) for other in others) for word in some)


def _alike(word: str, other: str) -> bool:
    short, long = sorted((word, other), key=len)
    return short == long or (len(short) >= MIN_ABBREVIATION and long.startswith(short))


# maximum number of languages of a property, minimum number of things with a name in one
MOST, FEWEST = 12, 2


def is_translation(iri: str) -> bool:
    """Whether a property was derived by this rule: it has the names in one language.

    >>> is_translation("http://www.w3.org/2000/01/rdf-schema#label@de"), is_translation("http://example.org/#de")
    (True, False)
    """
    return name_rank(multilingual_property(iri)) is not None


# minimum share of undescribed targets; with fewer, the property links to things of the graph of which some are missing
MIN_UNDESCRIBED_SHARE = 0.9

# maximum number of links of one property
MAX_UNDESCRIBED_LINKS = 200_000

# maximum number of distinct texts of one property
MAX_IRI_TEXTS = 30

UNDESCRIBED_REASON = "nothing is said of its target"

_TERM = re.compile(r"https?://\S+")

_FILE = re.compile(r"\.[a-z]{2,4}\d?$", re.IGNORECASE)

# the end of "by/4.0" has no meaning alone
_VERSION = re.compile(r"/v?\d+(\.\d+)+/?$")


def _name_texts(draft: Draft) -> None:
    """Replace IRIs in literals by their words, if a property has few distinct ones that are not addresses."""
    facts = draft.facts
    literal = np.flatnonzero(facts.is_literal[facts.object])
    # one text of each property excludes most properties without IRIs
    one = np.zeros(len(facts.texts), dtype=np.int32)
    one[facts.predicate[literal]] = facts.object[literal]
    for number in facts.predicates:
        if not draft.text(int(one[number])).startswith("http"):
            continue
        rows = literal[facts.predicate[literal] == number]
        values = unique_counts(facts.object[rows])[0].tolist()
        # texts that are unique to each thing are addresses
        few = len(values) <= MAX_IRI_TEXTS and len(values) < len(rows) <= MAX_UNDESCRIBED_LINKS
        if few and all(_TERM.fullmatch(draft.text(value)) for value in values):
            said = _target_texts(draft, draft.text(number), values)
            if not any(map(_TERM.fullmatch, said.values())):
                _replace_links(draft, draft.text(number), rows.tolist(), said)


def _replace_links(draft: Draft, iri: str, rows: list[int], said: dict[int, str]) -> None:
    for row in rows:
        subject, _, target = draft.row(row)
        if row not in draft.hidden:
            draft.hide([row], UNDESCRIBED_REASON)
            draft.add(subject, iri, draft.literal(said[target]))


def _target_texts(draft: Draft, predicate: str, targets: list[int]) -> dict[int, str]:
    """A text for each target: addresses as they are, others by their local names if these are unique."""
    words = readable_name(local_name(predicate)).lower().split()
    address = not word_list("ingestion", "address_words").isdisjoint(words)
    texts = {target: draft.text(target) for target in targets}
    named = {t: iri if address or _is_address(iri) else _local_words(iri) for t, iri in texts.items()}
    often = Counter(named.values())
    return {t: name if often[name] == 1 else texts[t] for t, name in named.items()}


def _local_words(iri: str) -> str:
    scheme, found, rest = iri.partition(":")
    return rest if found and scheme.lower() in ("mailto", "tel") else label_from_iri(iri)


def _is_address(iri: str) -> bool:
    """Whether an IRI is the address of a page or a file: only a host, a query, or a path with an extension or a
    version.

    >>> _is_address("http://example.org"), _is_address("http://example.org/a.pdf"), _is_address("http://example.org/a")
    (True, True, False)
    """
    parts = urlsplit(iri)
    if parts.scheme not in ("http", "https", "ftp") or parts.fragment:
        return False
    return (
        not parts.path.strip("/") or bool(parts.query) or bool(_FILE.search(parts.path) or _VERSION.search(parts.path))
    )


EMPTY_REASON = "empty text"
