"""The triples that a layer derives: Layer + Facts -> Facts with derived triples, and what each entry gave.

Entries derive in an order in which each comes after those that give what it reads. Property paths are evaluated over
all triples: path -> pairs of start and end. What derived classes contain and belong to is found by their members.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ingestion.layer.apply import Derived, is_deriving
from ingestion.layer.entries import (
    LAYER_NAMESPACE,
    ClassEntry,
    CodeEntry,
    Entry,
    Layer,
    PropertyEntry,
    RuleEntry,
    ThingEntry,
)
from ingestion.layer.layer_file import iri_variants, iris_of, may_read_any_predicate, mentioned_iris
from ingestion.layer.resolve import Problem, is_of_pack
from ingestion.meaning.draft import Draft
from ingestion.read.facts import Facts
from ingestion.vocabulary import ALTERNATIVE, LABEL, LAYER_NAME, SUBCLASS, TYPE, name_rank
from nacre.errors import IngestionError, ToolError
from nacre.extensions.layer_patterns.patterns import PatternStore, PlainTerm, written_term
from nacre.plans.property_path import (
    MAX_REPETITIONS,
    Alternative,
    Link,
    PropertyPath,
    Repeated,
    Reverse,
    may_match,
    parse_path,
    required_paths,
)
from nacre.plans.property_path import Sequence as PathSequence

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Terms = NDArray[np.int32]

CODE_REASON = "code that the layer explains"


def derive_layer(facts: Facts, layer: Layer) -> Derived:
    """Derive what the entries of a resolved layer say; each sees what the others give, rules what earlier rules give.
    Entries that fail are problems of kind error; the others are applied. The graph's triples stay as they are."""
    derived = Derived(facts)
    with ExitStack() as stack:
        work = _LayerDerivation(facts, layer, stack)
        for index in derivation_order(layer.entries):
            entry = layer.entries[index]
            if not is_deriving(entry):
                continue
            try:
                derived.counts[index] = work.apply(entry)
            except (IngestionError, ToolError) as error:
                name = entry.key if not isinstance(entry, RuleEntry) else "the rule"
                derived.problems.append(Problem(entry.place, f"'{name}' was left out: {error}", is_error=True))
        work.derive_subclasses()
        derived.facts = work.draft.finished_facts()
    return derived


class _LayerDerivation:
    """The triples derived so far, by predicate."""

    def __init__(self, facts: Facts, layer: Layer, stack: ExitStack) -> None:
        self.draft = Draft(facts)
        self.facts = facts
        self.layer = layer
        self._stack = stack
        self._derived: dict[str, list[tuple[Terms, Terms]]] = defaultdict(list)
        self._started: PatternStore | None = None
        self._written: dict[int, str] = {}

    def apply(self, entry: Entry) -> int:
        """Derive the triples of one entry; returns how many values it gave."""
        if is_of_pack(entry) and not self._may_match(entry):
            return 0
        if isinstance(entry, ClassEntry):
            rows = self._store.select(f"SELECT DISTINCT ?this WHERE {{ {entry.where} }}")
            members = np.array([self._term(row[0]) for row in rows if row[0] is not None], dtype=np.int32)
            return self._derive(members, TYPE, np.full(len(members), self.draft.iri(entry.iri), dtype=np.int32))
        if isinstance(entry, PropertyEntry):
            return self._property(entry)
        if isinstance(entry, RuleEntry):
            return self._rule(entry)
        if isinstance(entry, ThingEntry):
            return self._names(entry)
        return self._codes(entry)

    def derive_subclasses(self) -> None:
        """Make derived classes subclasses of the classes with all of their members, and the other way round."""
        derived = {self._known(e.iri) for e in self.layer.entries if isinstance(e, ClassEntry) and e.is_derived}
        if derived:
            pairs = np.array(contained_classes(*self._links(TYPE), derived), dtype=np.int32).reshape(-1, 2)
            self._derive(pairs[:, 0], SUBCLASS, pairs[:, 1])

    def _may_match(self, entry: Entry, others: Collection[str] = ()) -> bool:
        """Whether the graph, with `others`, has the properties that an entry needs and any of its IRIs. Most patterns
        of packs are about what it lacks."""

        def is_used(iri: str) -> bool:
            derived = iri in self._derived or iri in others
            return derived or any(self.draft.predicate(each) is not None for each in iri_variants(iri))

        iris = mentioned_iris(query_text(entry))
        if iris and not any(iri in self._derived or self.draft.known_iri(iri) is not None for iri in iris):
            return not iris.isdisjoint(others)
        path = entry.path if isinstance(entry, PropertyEntry) else ""
        paths = [parse_path(path)] if path else required_paths(query_body(entry))
        return all(may_match(each, is_used) for each in paths)

    @cached_property
    def _patterns(self) -> list[str]:
        """The patterns and rules that may match, now or after what others derive."""
        entries = self.layer.entries
        others = {TYPE, *(iri for entry in entries for iri in given_iris(entry))}
        others.update(iri for entry in entries if isinstance(entry, RuleEntry) for iri in template_iris(entry))
        return [
            text
            for entry in entries
            if (text := query_text(entry)) and (not is_of_pack(entry) or self._may_match(entry, others))
        ]

    def _property(self, entry: PropertyEntry) -> int:
        subjects, values = self._values(entry)
        if entry.of:
            inside = np.isin(subjects, self._members(entry.of))
            subjects, values = subjects[inside], values[inside]
        if entry.kind:
            literal = np.array([self.draft.sort(v)[0] == "literal" for v in values.tolist()], dtype=bool)
            count = self._derive(subjects[literal], LAYER_NAME, values[literal])
            return count if not entry.is_derived else self._derive(subjects, entry.iri, values)
        return self._derive(subjects, entry.iri, values)

    def _values(self, entry: PropertyEntry) -> "tuple[Terms, Terms]":
        if entry.path:
            return PathEvaluator(self._links).pairs(parse_path(entry.path))
        if entry.where:
            rows = self._store.select(f"SELECT DISTINCT ?this ?value WHERE {{ {entry.where} }}")
            pairs = [(self._term(s), self._term(v)) for s, v in rows if s is not None and v is not None]
            found = np.array(pairs, dtype=np.int32).reshape(-1, 2)
            return found[:, 0], found[:, 1]
        return self._links(entry.iri)

    def _rule(self, entry: RuleEntry) -> int:
        by_predicate: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for s, p, o in self._store.construct(entry.text):
            by_predicate[p[1]].append((self._term(s), self._term(o)))
        count = 0
        for iri, pairs in by_predicate.items():
            found = np.array(pairs, dtype=np.int32)
            count += self._derive(found[:, 0], iri, found[:, 1])
        return count

    def _names(self, entry: ThingEntry) -> int:
        count = 0
        for iri in iri_variants(entry.key):
            number = self.draft.known_iri(iri)
            if number is None:
                continue
            named = any(
                name_rank(self.draft.text(self.draft.row(r)[1])) is not None for r in self.draft.rows_of(number)
            )
            for i, name in enumerate((entry.name, *entry.also)):
                if name:
                    predicate = LAYER_NAME if i == 0 and not named else ALTERNATIVE
                    subjects, values = np.array([[number], [self.draft.literal(name)]], dtype=np.int32)
                    count += self._derive(subjects, predicate, values)
        return count

    def _codes(self, entry: CodeEntry) -> int:
        number = self.draft.predicate(entry.key)
        if number is None:
            return 0
        rows = np.flatnonzero(self.facts.predicate == number)
        terms = np.unique(self.facts.object[rows]).tolist()
        meanings: dict[int, tuple[int, ...]] = {
            t: (self.draft.literal(entry.meanings[self.draft.text(t)]),)
            for t in terms
            if self.draft.sort(t)[0] == "literal" and self.draft.text(t) in entry.meanings
        }
        self.draft.replace_literals(rows, meanings, CODE_REASON)
        values = {self.draft.text(t): t for t in terms if self.draft.sort(t)[0] == "literal"}
        # what no value is called is a further name of the value that it means
        others = {code: values[said] for code, said in entry.meanings.items() if code not in values and said in values}
        for code, value in others.items():
            self.draft.codes.setdefault(number, {}).setdefault(value, set()).add(self.draft.literal(code))
        return int(np.isin(self.facts.object[rows], [*meanings, *others.values()]).sum())

    def _derive(self, subjects: "Terms", predicate: str, values: "Terms") -> int:
        """Derive triples that are not there yet."""
        literal = self._is_literal(subjects)
        subjects, values = subjects[~literal], values[~literal]
        known_s, known_v = self._links(predicate)
        known = known_s.astype(np.int64) << 32 | known_v
        keys = subjects.astype(np.int64) << 32 | values
        new = ~np.isin(keys, known)
        if new.any():
            subjects, values = subjects[new], values[new]
            self._derived[predicate].append((subjects, values))
            self.draft.derive(subjects, predicate, values)
            self._add_to_store(predicate, subjects, values)
        return len(keys)

    def _links(self, iri: str) -> "tuple[Terms, Terms]":
        """All pairs of a property, read or derived."""
        found = list(self._derived.get(iri, ()))
        for variant in iri_variants(iri):
            number = self.draft.predicate(variant)
            if number is not None and number < len(self.facts.texts):
                rows = self._rows_of_predicate(number)
                found.append((self.facts.subject[rows], self.facts.object[rows]))
        if len(found) == 1:
            return found[0]
        empty = np.zeros(0, dtype=np.int32)
        return np.concatenate([empty, *(f[0] for f in found)]), np.concatenate([empty, *(f[1] for f in found)])

    def _rows_of_predicate(self, number: int) -> "NDArray[np.intp]":
        order, starts = self._by_predicate
        low, high = np.searchsorted(starts, (number, number + 1)).tolist()
        return order[low:high]

    @cached_property
    def _by_predicate(self) -> "tuple[NDArray[np.intp], Terms]":
        order = np.argsort(self.facts.predicate, kind="stable")
        return order, self.facts.predicate[order]

    def _members(self, classes: Sequence[str]) -> "Terms":
        """The things of classes and their subclasses."""
        wanted = {self._known(iri) for iri in classes}
        child, parent = self._links(SUBCLASS)
        while len(more := wanted | set(child[np.isin(parent, list(wanted))].tolist())) > len(wanted):
            wanted = more
        subjects, types = self._links(TYPE)
        return np.unique(subjects[np.isin(types, list(wanted))])

    def _known(self, iri: str) -> int:
        return self.draft.iri(iri) if (known := self.draft.known_iri(iri)) is None else known

    def _is_literal(self, terms: "Terms") -> "NDArray[np.bool_]":
        known = terms < len(self.facts.texts)
        flags = np.zeros(len(terms), dtype=bool)
        flags[known] = self.facts.is_literal[terms[known]]
        flags[~known] = [self.draft.sort(t)[0] == "literal" for t in terms[~known].tolist()]
        return flags

    @property
    def _store(self) -> PatternStore:
        """The store of the triples that the patterns of the layer read; started by the first one."""
        if self._started is None:
            self._started = self._stack.enter_context(closing(PatternStore(self._read_lines())))
            for iri, pairs in self._derived.items():
                for subjects, values in pairs:
                    self._add_to_store(iri, subjects, values)
        return self._started

    def _add_to_store(self, predicate: str, subjects: "Terms", values: "Terms") -> None:
        if self._started is not None and (self._is_any_read or predicate in self._read_iris):
            self._started.add(self._lines(predicate, subjects, values))

    @cached_property
    def _read_iris(self) -> frozenset[str]:
        return frozenset(iri for text in self._patterns for iri in iris_of(text))

    @cached_property
    def _is_any_read(self) -> bool:
        return may_read_any_predicate(self._patterns)

    def _read_lines(self) -> Iterator[str]:
        """The triples that patterns can match. Rules of packs with any predicate follow links to and from the things
        that their other triples are about; other patterns with any predicate see all triples."""
        if may_read_any_predicate(query_text(e) for e in self.layer.entries if query_text(e) and not is_of_pack(e)):
            wanted = np.ones(len(self.facts.subject), dtype=bool)
        else:
            wanted = self._wanted_rows()
        for number in self.facts.predicates:
            rows = self._rows_of_predicate(number)
            rows = rows[wanted[rows]]
            yield from self._lines(self.facts.texts[number], self.facts.subject[rows], self.facts.object[rows])

    def _wanted_rows(self) -> "NDArray[np.bool_]":
        facts, iris = self.facts, self._read_iris
        numbers = [n for n in facts.predicates if facts.texts[n] in iris]
        wanted: NDArray[np.bool_] = np.isin(facts.predicate, numbers)
        if self._is_any_read:
            telling = [n for n in numbers if facts.texts[n] not in (TYPE, LABEL)]
            about = np.zeros(len(facts.texts), dtype=bool)
            rows = np.isin(facts.predicate, telling)
            about[facts.subject[rows]] = True
            about[facts.object[rows][~facts.is_literal[facts.object[rows]]]] = True
            wanted |= about[facts.object] | about[facts.subject]
        return wanted

    def _lines(self, predicate: str, subjects: "Terms", values: "Terms") -> Iterator[str]:
        """Triples of a property in N-Triples syntax."""
        property_ = written_term("iri", predicate, "", "")
        written = self._written
        for term in np.unique(np.concatenate((subjects, values))).tolist():
            if term not in written:
                kind, datatype, language = self.draft.sort(term)
                written[term] = written_term(kind, self.draft.text(term), datatype, language)
        for subject, value in zip(subjects.tolist(), values.tolist(), strict=True):
            yield f"{written[subject]} {property_} {written[value]} .\n"

    def _term(self, term: PlainTerm) -> int:
        kind, text, datatype, language = term
        if kind == "iri":
            return self.draft.iri(text)
        if kind == "blank":
            return self._blanks.get(text) or self.draft.iri(f"urn:nacre:node:{text[2:]}")
        known = self._literals.get((text, datatype, language))
        return self.draft.literal(text, datatype, language) if known is None else known

    @cached_property
    def _blanks(self) -> Mapping[str, int]:
        return {self.facts.texts[n]: n for n in np.flatnonzero(self.facts.kinds("blank")).tolist()}

    @cached_property
    def _literals(self) -> Mapping[tuple[str, str, str], int]:
        facts = self.facts
        numbers = np.flatnonzero(facts.is_literal).tolist()
        return {(facts.texts[n], *facts.sorts[int(facts.sort_of[n])][1:]): n for n in numbers}


def derivation_order(entries: Sequence[Entry]) -> list[int]:
    """The order of the file, but an entry that gives what another one reads comes before it. A rule does not wait
    for later rules."""
    givers: dict[str, list[int]] = defaultdict(list)
    for index, entry in enumerate(entries):
        for iri in given_iris(entry):
            givers[iri].append(index)
    rules = [index for index, entry in enumerate(entries) if isinstance(entry, RuleEntry)]
    before = {rule: earlier for earlier, rule in pairwise(rules)}
    order: dict[int, None] = {}
    for index in range(len(entries)):
        _visit(index, entries, givers, before, order)
    return list(order)


def query_text(entry: Entry) -> str:
    """The SPARQL that an entry runs; "" for none."""
    if isinstance(entry, RuleEntry):
        return entry.text
    return entry.where if isinstance(entry, ClassEntry | PropertyEntry) else ""


def query_body(entry: Entry) -> str:
    """The group pattern of an entry, without braces; "" for none."""
    if isinstance(entry, RuleEntry):
        _, body = _rule_parts(entry)
        return body[body.find("{") + 1 : body.rfind("}")]
    return query_text(entry)


def _visit(
    start: int,
    entries: Sequence[Entry],
    givers: Mapping[str, Sequence[int]],
    before: Mapping[int, int],
    order: dict[int, None],
) -> None:
    """Add an entry after those it needs. Entries that need one another stay in the order of the file."""
    open_entries, waiting = {start}, [(start, False)]
    while waiting:
        index, is_ready = waiting.pop()
        if index in order:
            continue
        if is_ready:
            order[index] = None
            continue
        open_entries.add(index)
        waiting.append((index, True))
        needed = {giver for iri in _read(entries[index]) for giver in givers.get(iri, ())}
        if isinstance(entries[index], RuleEntry):
            needed = {each for each in needed if each < index or not isinstance(entries[each], RuleEntry)}
            needed |= {before[index]} if index in before else set()
        waiting += [(each, False) for each in sorted(needed - open_entries - order.keys(), reverse=True)]


def given_iris(entry: Entry) -> Collection[str]:
    """The IRIs of what an entry derives; of a rule only those in the namespace of layers."""
    if isinstance(entry, ThingEntry):
        return (LAYER_NAME,)
    if isinstance(entry, PropertyEntry):
        return (*((entry.iri,) if entry.is_derived else ()), *((LAYER_NAME,) if entry.kind else ()))
    if isinstance(entry, ClassEntry):
        return (entry.iri,) if entry.is_derived else ()
    if isinstance(entry, RuleEntry):
        return {iri for iri in template_iris(entry) if iri.startswith(LAYER_NAMESPACE)}
    return ()


def template_iris(rule: RuleEntry) -> Collection[str]:
    """The IRIs in the triples that a rule derives."""
    template, _ = _rule_parts(rule)
    return iris_of(template)


def _read(entry: Entry) -> Collection[str]:
    """The IRIs that an entry reads."""
    if isinstance(entry, PropertyEntry):
        return {*iris_of(entry.path or entry.where), *entry.of}
    if isinstance(entry, ClassEntry):
        return iris_of(entry.where)
    return iris_of(_rule_parts(entry)[1]) if isinstance(entry, RuleEntry) else ()


def _rule_parts(rule: RuleEntry) -> tuple[str, str]:
    """The text up to the end of the template, and the rest."""
    end = rule.text.find("}") + 1
    return rule.text[:end], rule.text[end:]


# pairs that a step may give: about 160 MB (measured: 16 bytes a pair and their sort)
MAX_PAIRS = 5_000_000


class PathEvaluator:
    """Evaluates paths over the pairs that `links` gives for a property."""

    def __init__(self, links: "Callable[[str], tuple[Terms, Terms]]") -> None:
        self._links = links

    def pairs(self, path: PropertyPath) -> "tuple[Terms, Terms]":
        """The distinct pairs of start and end. Raises IngestionError for more than MAX_PAIRS. A path that may have no
        link (`?`, `*`) only gives such pairs after another path of a sequence."""
        if isinstance(path, Link):
            return self._links(path.iri)
        if isinstance(path, Reverse):
            start, end = self.pairs(path.path)
            return end, start
        if isinstance(path, Alternative):
            return _union(*map(self.pairs, path.parts))
        if isinstance(path, Repeated):
            once = self.pairs(path.path)
            return once if path.mark == "?" else self._closure(once)
        return self._sequence(path)

    def _sequence(self, path: PathSequence) -> "tuple[Terms, Terms]":
        result: tuple[Terms, Terms] | None = None
        for part in path.parts:
            optional = isinstance(part, Repeated) and part.mark in "?*"
            step = self.pairs(part)
            if result is None and optional:
                following = path.parts[1:]
                rest = self.pairs(PathSequence(following) if len(following) > 1 else following[0])
                return _union(_join(step, rest), rest)
            if result is None:
                result = step
            else:
                joined = _join(result, step)
                result = _union(joined, result) if optional else joined
        if result is None:
            raise IngestionError("an empty path.")
        return result

    def _closure(self, once: "tuple[Terms, Terms]") -> "tuple[Terms, Terms]":
        found, last = once, once
        for _ in range(MAX_REPETITIONS):
            new = _without(_join(last, once), found)
            if not len(new[0]):
                break
            found = np.concatenate((found[0], new[0])), np.concatenate((found[1], new[1]))
            _check(len(found[0]))
            last = new
        return _distinct(*found)


def _join(left: "tuple[Terms, Terms]", right: "tuple[Terms, Terms]") -> "tuple[Terms, Terms]":
    """The distinct pairs of starts of the left and ends of the right that meet."""
    order = np.argsort(right[0], kind="stable")
    starts, ends = right[0][order], right[1][order]
    low = np.searchsorted(starts, left[1], side="left")
    counts = np.searchsorted(starts, left[1], side="right") - low
    total = int(counts.sum())
    _check(total)
    before = np.cumsum(counts) - counts
    index = np.repeat(low - before, counts) + np.arange(total)
    return _distinct(np.repeat(left[0], counts), ends[index])


def _union(*pairs: "tuple[Terms, Terms]") -> "tuple[Terms, Terms]":
    """The distinct pairs of several paths."""
    return _distinct(np.concatenate([start for start, _ in pairs]), np.concatenate([end for _, end in pairs]))


def _distinct(start: "Terms", end: "Terms") -> "tuple[Terms, Terms]":
    _check(len(start))
    keys = np.unique(start.astype(np.int64) << 32 | end.astype(np.int64))
    return (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32)


def _without(pairs: "tuple[Terms, Terms]", known: "tuple[Terms, Terms]") -> "tuple[Terms, Terms]":
    keys = pairs[0].astype(np.int64) << 32 | pairs[1].astype(np.int64)
    new = ~np.isin(keys, known[0].astype(np.int64) << 32 | known[1].astype(np.int64))
    return pairs[0][new], pairs[1][new]


def _check(pairs: int) -> None:
    if pairs > MAX_PAIRS:
        raise IngestionError(f"it gives {pairs:,} pairs; at most {MAX_PAIRS:,} are allowed. Restrict it with 'of'.")


def contained_classes(things: "Terms", types: "Terms", derived: Collection[int]) -> list[tuple[int, int]]:
    """Pairs of a class and a class with all of its members and more, where one of the two is derived. A pair that
    follows from two others is left out."""
    keys = np.unique(types.astype(np.int64) << 32 | things)
    types, things = (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32)
    classes, starts = np.unique(types, return_index=True)
    members = dict(zip(classes.tolist(), np.split(things, starts)[1:], strict=True))
    found: dict[int, set[int]] = {}
    for own in derived:
        if own not in members:
            continue
        shared, counts = np.unique(types[np.isin(things, members[own])], return_counts=True)
        for other, count in zip(shared.tolist(), counts.tolist(), strict=True):
            size, other_size = len(members[own]), len(members[other])
            if count == size < other_size:
                found.setdefault(own, set()).add(other)
            elif count == other_size < size:
                found.setdefault(other, set()).add(own)
    return [
        (narrow, wide)
        for narrow, all_wide in sorted(found.items())
        for wide in sorted(all_wide)
        if not any(wide in found.get(between, ()) for between in all_wide)
    ]
