"""Phrases for facts: Facts + Schema -> titles of things, wordings of predicates, words for objects.

The outgoing and incoming facts of things are indexed first, by number of the term.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ingestion.index.passages import MAX_TITLE, clean_text
from ingestion.induce.cells import EDTF
from ingestion.induce.declarations import best_names
from ingestion.induce.names import label_from_iri
from ingestion.induce.partial_dates import parse_partial_date
from ingestion.read.facts import Facts, change_mask
from ingestion.vocabulary import RDF, XSD, is_other_name, local_name
from nacre.language.data import phrase_list
from nacre.language.labels import has_boolean_name, is_boolean_predicate
from nacre.language.values import MONEY_SIGN, append_unit
from nacre.language.word_forms import VerbPhrase, is_link_verb
from nacre.records.evidence import shorten
from nacre.records.schema import Predicate, Schema
from nacre.wording.labels import has_measured_numbers, predicate_label
from nacre.wording.nouns import is_temporal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int32]

IRI, BLANK, LITERAL, TRIPLE = range(4)

ObjectGroups = list[tuple[int, list[int]]]


class GroupedPairs:
    """Pairs (predicate, term) by thing, stored as arrays, since there are as many as triples. The arrays are sorted by
    thing, then by predicate; things are numbers below `count`."""

    def __init__(self, things: "Ints", predicates: "Ints", terms: "Ints", count: int) -> None:
        self.things, self.predicates, self.terms = things, predicates, terms
        self.sizes = np.bincount(things, minlength=count)
        self._ends = np.concatenate(([0], np.cumsum(self.sizes))).data

    def rows(self, first: int, last: int) -> slice:
        """The slice of the arrays with the pairs of things from `first` to before `last`."""
        return slice(self._ends[first], self._ends[last])

    def of(self, thing: int) -> ObjectGroups:
        """The distinct terms of a thing by predicate, in the order of numbers."""
        return next((groups for _, groups in self.between(thing, thing + 1)), [])

    def between(self, first: int, last: int) -> Iterator[tuple[int, ObjectGroups]]:
        """The terms of all things from `first` to before `last` that have any."""
        rows = self.rows(first, last)
        at = by = -1
        groups: ObjectGroups = []
        members: list[int] = []
        for thing, predicate, term in zip(
            self.things[rows].tolist(), self.predicates[rows].tolist(), self.terms[rows].tolist(), strict=True
        ):
            if thing != at:
                if groups:
                    yield at, groups
                groups, at, by = [], thing, -1
            if predicate != by:
                members, by = [term], predicate
                groups.append((predicate, members))
            elif term != members[-1]:  # otherwise the same triple in two named graphs
                members.append(term)
        if groups:
            yield at, groups


class Neighbours:
    """Facts in both directions; `links` are the predicates of links. `kind[n]` is IRI, BLANK, LITERAL or TRIPLE."""

    def __init__(self, facts: Facts, links: Collection[int]) -> None:
        kinds = ("iri", "blank", "literal", "triple")
        by_sort = np.array([kinds.index(sort[0]) for sort in facts.sorts], dtype=np.uint8)
        terms = len(facts.texts)
        self.kind: bytes = by_sort[facts.sort_of].tobytes()
        self.outgoing = GroupedPairs(facts.subject, facts.predicate, facts.object, terms)
        rows = np.flatnonzero((by_sort[facts.sort_of[facts.object]] <= BLANK) & np.isin(facts.predicate, list(links)))
        rows = rows[self.outgoing.sizes[facts.object[rows]] > 0]
        rows = rows[np.lexsort((facts.subject[rows], facts.predicate[rows], facts.object[rows]))]
        self.incoming = GroupedPairs(facts.object[rows], facts.predicate[rows], facts.subject[rows], terms)


class LabelForm(NamedTuple):
    """A label as the verb after one subject ("is located in") and after several, or as a noun ("The ... of X is Y")."""

    text: str
    plural: str
    said: VerbPhrase | None = None


class PredicateWording(NamedTuple):
    """A sentence is `before` NAME `one` or `many` OBJECTS. `turn` orders predicates within a level, `place` orders
    facts."""

    turn: int
    place: int
    before: str
    one: str
    many: str
    is_name: bool
    is_text: bool
    is_flag: bool
    form: LabelForm
    predicate: Predicate


class Titles:
    """Titles of terms. `of[n]` is the title of a term, "" for a literal; `given` are the stated names.

    A thing without a name is titled by its local name; if that has no meaning, by the only thing that links to it ("the
    address of Hamlet"). A web page is titled by its address.
    """

    def __init__(self, facts: Facts, near: Neighbours, ways: dict[int, PredicateWording]) -> None:
        self._facts = facts
        self._near = near
        self._ways = ways
        self._homes = {
            _namespace(facts.texts[s]) for s in near.outgoing.things[change_mask(near.outgoing.things)].tolist()
        }
        names = enumerate(best_names(facts, facts.is_literal[facts.object]))
        self.given = {number: said for number, name in names if name and (said := shorten(clean_text(name), MAX_TITLE))}
        self.of = [""] * len(facts.texts)
        for number in np.flatnonzero(~facts.is_literal).tolist():
            self.of[number] = self.given.get(number) or shorten(self._call(number, frozenset()), MAX_TITLE)

    def _call(self, number: int, seen: frozenset[int]) -> str:
        if number in self.given:
            return self.given[number]
        kind, text = self._facts.term(number)[:2]
        link = self._referrer(number) if len(seen) < 2 else None
        if link is not None and link[0] not in seen | {number} and self._is_meaningless(number, link[0]):
            return f"the {link[1]} of {self._call(link[0], seen | {number})}"
        if kind != "iri":
            return "an unnamed thing"
        elsewhere = _namespace(text) not in self._homes
        return clean_text(text if elsewhere else label_from_iri(text)) or text

    def _referrer(self, number: int) -> tuple[int, str] | None:
        """The only thing that links to a thing, and by which predicate; it gives the title of unnamed things."""
        links = self._near.incoming.of(number)
        if len(links) != 1 or len(links[0][1]) != 1:
            return None
        predicate, (referrer,) = links[0]
        way = self._ways[predicate]
        return (referrer, way.form.text) if way.predicate.functional and way.form.said is None else None

    def _is_meaningless(self, number: int, referrer: int) -> bool:
        """Whether the identifier is not a name: a number, a code, or the name of the linking thing."""
        kind, text = self._facts.term(number)[:2]
        own = local_name(text)
        return kind == "blank" or own == local_name(self._facts.texts[referrer]) or _CODE.fullmatch(own) is not None


def _namespace(iri: str) -> str:
    return iri[: max(iri.rfind("#"), iri.rfind("/")) + 1]


_CODE = re.compile(r"[\W\d_]*|(?=.*\d)[0-9a-fA-F-]{8,}")

# the place of a sentence as one number: its level and, within it, the turn of its predicate
TEXTS, CLASSES, NAMES, FACTS, IDENTIFIERS, LINKS, THING = (level << 32 for level in range(7))


def predicate_wordings(schema: Schema, iris: Iterable[tuple[int, str]]) -> dict[int, PredicateWording]:
    """The wording of predicates, by their numbers; declarations of the schema have none."""
    known = schema.predicate_of
    said = [(n, known[iri]) for n, iri in iris if iri in known and known[iri].role not in ("type", "schema")]
    forms = {n: _form(p, schema) for n, p in said}
    said.sort(key=lambda each: (forms[each[0]].text, each[0]))
    return {n: _way(predicate, forms[n], turn) for turn, (n, predicate) in enumerate(said)}


def _form(predicate: Predicate, schema: Schema) -> LabelForm:
    label = predicate_label(predicate.iri, schema)
    is_verb = label.kind != "noun" or label.has or is_link_verb(label.one.split()[0])
    if is_boolean_predicate(predicate) and (is_verb or has_boolean_name(predicate)):
        said = label.flag()
    elif label.kind == "noun" or (has_measured_numbers(predicate) and " " not in label.one):
        return LabelForm(label.full, label.full)
    else:
        is_dated = predicate.datatype in ("date", "datetime") and predicate.shape != "period"
        said = label.statement("", is_dated=is_dated, is_temporal=is_temporal(predicate.iri, schema))
    return LabelForm(said.words(), said.words(many=True), said)


def boolean_sentence(name: str, way: PredicateWording, true: bool) -> str:
    """The sentence for a boolean predicate."""
    said = way.form.said
    if said is None:
        return f"{way.before}{name}{way.one}{'true' if true else 'false'}."
    return f"{name} {(said if true else said.denial).words()}."


def _way(predicate: Predicate, form: LabelForm, turn: int) -> PredicateWording:
    if form.said is not None:
        before, one, many = "", f" {form.text} ", f" {form.text} "
    else:
        before, one, many = f"The {form.text} of ", f" {be_form(form.text, False)} ", f" {be_form(form.text, True)} "
    return PredicateWording(
        turn=turn,
        place=turn + (IDENTIFIERS if predicate.role == "identifier" else FACTS),
        before=before,
        one=one,
        many=many,
        is_name=predicate.role == "name" or is_other_name(predicate.iri),
        is_text=predicate.role == "text",
        is_flag=is_boolean_predicate(predicate) and form.said is not None,
        form=form,
        predicate=predicate,
    )


OBJECTS = 8  # maximum number of names in a sentence about one thing

PARTS = 12  # maximum number of verbalised predicates of a blank node

LONG_TEXT = 120  # a longer literal is quoted as it is

DEEPEST = 3  # maximum nesting of blank nodes

BOOLEAN = XSD + "boolean"

DECIMALS = frozenset(XSD + name for name in ("decimal", "double", "float"))

FIRST, REST = RDF + "first", RDF + "rest"

NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")
AMOUNT = re.compile(rf"({NUMBER.pattern}) ?({MONEY_SIGN.pattern})")


class ObjectPhrases:
    """Phrases for objects. `usual[n]` is the title or the text of most terms; "" for terms that need more work. `long`
    are the literals that are quoted as they are."""

    def __init__(self, facts: Facts, near: Neighbours, titles: Titles, ways: dict[int, PredicateWording]) -> None:
        self._texts = facts.texts
        self._near = near
        self._titles = titles
        self._ways = ways
        self._sort_of = facts.sort_of.data
        self._booleans = {i for i, sort in enumerate(facts.sorts) if sort[1] == BOOLEAN}
        self._dates = {i for i, sort in enumerate(facts.sorts) if sort[1] in (EDTF, XSD + "gYearMonth")}
        self._decimals = {i for i, sort in enumerate(facts.sorts) if sort[1] in DECIMALS}
        self.long = {n for n, text in enumerate(facts.texts) if len(text) > LONG_TEXT and near.kind[n] == LITERAL}
        self.usual = self._usual()

    def is_boolean(self, number: int) -> bool:
        """Whether a literal is a boolean."""
        return self._sort_of[number] in self._booleans

    def words(self, number: int, unit: str, depth: int = 0, seen: frozenset[int] = frozenset()) -> str:
        """The phrase for a term in a sentence; numbers get the unit of the predicate."""
        kind = self._near.kind[number]
        if kind == IRI:
            return self._titles.of[number]
        if kind == BLANK:
            return self._titles.of[number] if number in self._titles.given else self._blank(number, depth, seen)
        text = clean_text(self._texts[number])
        if text.endswith(".0") and self._sort_of[number] in self._decimals:
            text = text[:-2]
        elif self._sort_of[number] in self._dates and (found := parse_partial_date(text)) is not None:
            text = found.words
        if (amount := AMOUNT.fullmatch(text)) is not None:
            return append_unit(amount[1], amount[2])
        return append_unit(text, unit) if NUMBER.fullmatch(text) else text

    def _usual(self) -> list[str]:
        special = self._booleans | self._decimals | self._dates
        usual = []
        for n, (kind, sort, text) in enumerate(zip(self._near.kind, self._sort_of, self._texts, strict=True)):
            if kind == IRI:
                text = self._titles.of[n]
            elif kind != LITERAL or n in self.long or sort in special or clean_text(text) is not text:
                text = ""
            # a title with "the" may repeat the fact ("the address of Hamlet")
            usual.append("" if text.startswith("the ") else text)
        return usual

    def _blank(self, number: int, depth: int, seen: frozenset[int]) -> str:
        """The facts of a blank node in brackets; the members of a list without brackets."""
        if number in seen or depth >= DEEPEST:
            return ""
        seen = seen | {number}
        items = self._list(number)
        if items is not None:
            said = [self.words(o, "", depth + 1, seen) for o in items[: 4 * OBJECTS]]
            return list_names([text for text in said if text] or ["nothing"], max(0, len(items) - 4 * OBJECTS))
        parts = []
        for p, objects in self._near.outgoing.of(number):
            if (way := self._ways.get(p)) is not None:
                said = [self.words(o, way.predicate.unit, depth + 1, seen) for o in objects[:OBJECTS]]
                if said := sorted(text for text in said if text):
                    parts.append(f"{way.form.text}: {list_names(said)}")
        return f"({'; '.join(sorted(parts)[:PARTS])})" if parts else ""

    def _list(self, number: int) -> list[int] | None:
        """The members of the RDF list at a node; None if it is not a list."""
        items: list[int] = []
        seen: set[int] = set()
        while number not in seen:
            seen.add(number)
            by_iri = {self._texts[p]: objects for p, objects in self._near.outgoing.of(number)}
            if FIRST not in by_iri:
                break
            items.append(by_iri[FIRST][0])
            number = by_iri.get(REST, [number])[0]
        return items or None


def be_form(noun: str, many: bool) -> str:
    """The verb after "The NOUN of X".

    >>> be_form("fuel type", many=False), be_form("members", many=False), be_form("equipment", many=True)
    ('is', 'are', 'includes')
    """
    last = noun.rpartition(" ")[2].lower()
    endings = (*phrase_list("ingestion", "singular_endings"), *phrase_list("ingestion", "invariable_nouns"))
    plural = last.endswith("s") and not last.endswith(endings)
    return ("include" if plural else "includes") if many else ("are" if plural else "is")


def label_in_sentence(label: str, name: str) -> str:
    """A label in the middle of a sentence. If it is only the split `name` of the IRI, its capitals have no meaning.

    >>> label_in_sentence("fuel Type", "fuelType"), label_in_sentence("Nobel Prize", "award")
    ('fuel type', 'Nobel Prize')
    >>> label_in_sentence("WLTP Range", "WLTPRange")
    'WLTP range'
    """
    if label.replace(" ", "") == re.sub(r"[\W_]", "", name):
        return " ".join(lower_first(word) for word in label.split())
    proper = any(word[0].isupper() for word in label.split()[1:])
    return label if proper else lower_first(label)


def list_names(names: Sequence[str], more: int = 0) -> str:
    """Names as an English list, with the number of further ones.

    >>> list_names(["A", "B", "C"]), list_names(["A", "B"], 7), list_names(["seats, front", "doors"])
    ('A, B and C', 'A, B and 7 more', 'seats, front; and doors')
    """
    parts = [*names, f"{more:,} more"] if more else list(names)
    if len(parts) == 1:
        return parts[0]
    if any(", " in name for name in names):
        return f"{'; '.join(parts[:-1])}; and {parts[-1]}"
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def capitalise_sentence(text: str) -> str:
    """Capitalise a generated phrase at the start of a sentence; titles keep their first letter.

    >>> [capitalise_sentence(text) for text in ("the owner of Hamlet", "an unnamed thing", "iPhone")]
    ['The owner of Hamlet', 'An unnamed thing', 'iPhone']
    """
    return text[0].upper() + text[1:] if text.startswith(("the ", "an unnamed")) else text


def lower_first(text: str) -> str:
    """The text with a small first letter, unless the first word is an acronym or a single letter.

    >>> lower_first("Fuel type"), lower_first("WLTP range"), lower_first("iPhone")
    ('fuel type', 'WLTP range', 'iPhone')
    """
    return text[0].lower() + text[1:] if len(text) > 1 and text[1].islower() else text
