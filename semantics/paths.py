"""The graph of the schema: which tables are linked by which predicates, and the shortest ways between them."""

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from functools import lru_cache

from records.schema import Predicate
from semantics.english import Measure, synonyms
from semantics.linker import Linker
from semantics.words import lemma

# adjectives that measure these order by anything: "the largest price", "the best time"
_GENERAL = frozenset(["size", "level", "score"])
_ENDS = frozenset("end death die until last expiry expire close remove stop finish leave due update modify".split())
_QUICK = frozenset(["speed", "velocity"])
_TIMES = frozenset(["s", "min", "h", "day", "week", "month", "year"])


@dataclass(frozen=True)
class Step:
    """One link from a table to another; `forward` when the table at hand holds the subject."""

    predicate: str
    forward: bool
    target: str
    triples: int


@dataclass(frozen=True)
class Path:
    """Steps from one set of tables to another; `cost` grows with length and with how many things lack the link."""

    steps: tuple[Step, ...]
    cost: float


@dataclass(frozen=True)
class Access:
    """Where a predicate's literals are for a thing: the way to its owner (no steps: itself), and how many have it."""

    steps: tuple[Step, ...]
    predicate: str
    share: float
    cost: float
    reversed: bool = False


@dataclass(frozen=True)
class LinkEnd:
    """The two tables that a link predicate joins."""

    subject: str
    object: str


class SchemaGraph:
    """Ways between the tables of one graph, from counts of what is really linked."""

    def __init__(self, linker: Linker) -> None:
        schema = linker.schema
        self.schema = schema
        self.facts = linker.lexicon.facts
        self.size = {g.relation: max(1, g.count) for g in schema.groups}
        self.steps: dict[str, list[Step]] = defaultdict(list)
        for link in linker.lexicon.links:
            if link.subject:
                # a target that is not described (a web page) has no table; it can be told, not asked about
                self.steps[link.subject].append(Step(link.predicate, True, link.object, link.triples))
                self.steps[link.object].append(Step(link.predicate, False, link.subject, link.triples))
        self.ends: dict[str, list[LinkEnd]] = {p.iri: [] for p in schema.predicates}
        for relation, steps in self.steps.items():
            for step in steps:
                if step.forward:
                    self.ends[step.predicate].append(LinkEnd(relation, step.target))
        self.words: dict[str, list[frozenset[str]]] = {p.iri: [] for p in schema.predicates}
        for i, words in linker.terms.lemmas.items():
            if linker.terms.names[i].kind == "predicate":
                self.words[linker.terms.names[i].target].append(frozenset(words))
        self.unnamed = _unnamed(linker)
        self.kin = _kin(linker)
        self.paths = lru_cache(maxsize=4096)(self._paths)
        self.access = lru_cache(maxsize=4096)(self._access)
        self.measuring = lru_cache(maxsize=4096)(self._measuring)
        self._rank = lru_cache(maxsize=4096)(self._ranked)

    def _paths(self, sources: frozenset[str], targets: frozenset[str]) -> tuple[Path, ...]:
        """The ways of one or two steps between two sets of tables, cheapest first."""
        found: dict[tuple[tuple[str, bool], ...], Path] = {}
        for source in sorted(sources):
            for step in self.steps[source]:
                if step.target in targets:
                    self._keep(found, (step,), 1.0 + self._rarity(step, source))
        if not found or all(p.cost > 1.6 for p in found.values()):
            for source in sorted(sources):
                for first in self.steps[source]:
                    for second in self.steps[first.target] if first.target else ():
                        if second.target in targets and not (
                            second.predicate == first.predicate and second.forward != first.forward
                        ):
                            # what has no name of its own only ties the two together
                            length = 1.4 if first.target in self.unnamed else 2.3
                            cost = length + self._rarity(first, source) + self._rarity(second, first.target)
                            self._keep(found, (first, second), cost)
        return tuple(sorted((found or self._long(sources, targets)).values(), key=lambda p: (p.cost, str(p.steps)))[:6])

    def _long(self, sources: frozenset[str], targets: frozenset[str]) -> dict[tuple[tuple[str, bool], ...], Path]:
        """The ways of three steps, for tables that nothing shorter joins."""
        found: dict[tuple[tuple[str, bool], ...], Path] = {}
        for source in sorted(sources):
            for first in self.steps[source]:
                for second in self.steps[first.target] if first.target else ():
                    for third in self.steps[second.target] if second.target else ():
                        turns = any(
                            a.predicate == b.predicate and a.forward != b.forward
                            for a, b in ((first, second), (second, third))
                        )
                        if third.target in targets and not turns:
                            rarity = self._rarity(first, source) + self._rarity(second, first.target)
                            cost = 3.3 + rarity + self._rarity(third, second.target)
                            self._keep(found, (first, second, third), cost)
        return found

    def _keep(self, found: dict[tuple[tuple[str, bool], ...], Path], steps: tuple[Step, ...], cost: float) -> None:
        key = tuple((s.predicate, s.forward) for s in steps)
        if key not in found or cost < found[key].cost:
            found[key] = Path(steps, cost)

    def _rarity(self, step: Step, source: str) -> float:
        """A link that few things of either end have is an unlikely reading."""
        share = min(1.0, step.triples / self.size.get(source, 1)) * min(
            1.0, step.triples / self.size.get(step.target, 1)
        )
        subject = source if step.forward else step.target
        # of two ways the one by single values is the likelier: it says what kind of thing it is
        fan = step.triples / max(1, self.facts.get((subject, step.predicate), step.triples))
        return 0.5 * (1 - share) + 0.1 * min(1.0, max(0.0, fan - 1))

    def _access(self, relations: frozenset[str], predicate: str) -> tuple[Access, ...]:
        """The ways to the literals of a predicate from things of some tables, best first."""
        found = []
        total = sum(self.size.get(r, 1) for r in relations)
        own = sum(self.facts.get((r, predicate), 0) for r in relations)
        if own:
            share = min(1.0, own / total)
            found.append(Access((), predicate, share, (1 - share) ** 2))
        kin = {r for relation in relations for r in self.kin.get(relation, ())}
        if not own and any(self.facts.get((r, predicate)) for r in kin):
            # recorded of others of its kind: that it is unknown here is the answer
            found.append(Access((), predicate, 0.0, 0.5))
        best: dict[tuple[str, bool], Access] = {}
        for source in sorted(relations):
            for step in self.steps[source]:
                n = self.facts.get((step.target, predicate), 0)
                if n and step.target not in relations:
                    share = min(1.0, n / self.size.get(step.target, 1))
                    cost = (0.5 if step.forward else 0.7) + self._rarity(step, source) + 0.3 * (1 - share)
                    key = (step.predicate, step.forward)
                    if key not in best or cost < best[key].cost:
                        best[key] = Access((step,), predicate, share, cost)
        found += best.values()
        if not found:
            for source in sorted(relations):
                for first in self.steps[source]:
                    for second in self.steps[first.target] if first.target else ():
                        if first.predicate == second.predicate and first.forward != second.forward:
                            # things that only share a value have nothing else in common
                            continue
                        if second.target != source and self.facts.get((second.target, predicate), 0):
                            cost = 1.6 + self._rarity(first, source) + self._rarity(second, first.target)
                            found.append(Access((first, second), predicate, 1.0, cost))
        return tuple(sorted(found, key=lambda a: (a.cost, str(a.steps)))[:4])

    def _measuring(self, relations: frozenset[str], concepts: tuple[str, ...]) -> list[tuple[str, Access, float]]:
        """Predicates with numbers or dates that measure one of `concepts`: (IRI, way, cost), best first."""
        found = []
        for predicate in self.schema.predicates:
            if not predicate.has_literals or (predicate.datatype in ("text", "boolean") and predicate.minimum is None):
                continue
            # "-birth": the property runs the other way, the later born is the younger
            sides = [
                tuple(c.lstrip("-") if c.startswith("-") == flip else "" for c in concepts) for flip in (False, True)
            ]
            for flip, side in zip((False, True), sides, strict=True):
                rank = self._rank(predicate.iri, side)
                if rank is None and "date" in side and self._begins(predicate):
                    rank = 0.9
                for access in self.access(relations, predicate.iri)[:1] if rank is not None else ():
                    found.append((predicate.iri, replace(access, reversed=flip), (rank or 0.0) + access.cost))
        return sorted(found, key=lambda f: (f[2], f[0]))

    def _begins(self, predicate: Predicate) -> bool:
        """Is this a date that may say how old something is: any that is not about an end or an event?"""
        dated = predicate.datatype in ("date", "datetime", "year")
        return dated and not any(words & _ENDS for words in self.words[predicate.iri])

    def runs_against(self, predicate: str, concepts: tuple[str, ...]) -> bool:
        """Is more of this property less of what an adjective measures: the worst delay is the longest?"""
        if _QUICK & set(concepts) and self.schema.predicate_of[predicate].unit in _TIMES:
            # the fastest acceleration takes the least time
            return True
        with_, against = (
            self._rank(predicate, tuple(c.lstrip("-") if c.startswith("-") == flip else "" for c in concepts))
            for flip in (False, True)
        )
        return against is not None and (with_ is None or against < with_)

    def can_measure(self, predicate: str, measure: Measure | None) -> bool:
        """May an adjective order by a property: by any, where it is as general as "high"; else by what it measures."""
        if measure is None or _GENERAL & set(measure.concepts) or self._rank(predicate, measure.concepts) is not None:
            return True
        return self.runs_against(predicate, measure.concepts) or self._in_time(predicate, measure)

    def _in_time(self, predicate: str, measure: Measure) -> bool:
        return "duration" in measure.concepts and self.schema.predicate_of[predicate].unit in _TIMES

    def _ranked(self, predicate: str, concepts: tuple[str, ...]) -> float | None:
        """How well a predicate's names say a concept: its place in the list, plus how much else the name says."""
        best = None
        for place, concept in enumerate(concepts):
            if not concept:
                continue
            wanted = {lemma(w) for w in concept.split()}
            for words in self.words[predicate]:
                hit = all(
                    any(w in words or any(x.startswith(w) and len(w) > 4 for x in words) for w in synonyms(word))
                    for word in wanted
                )
                if hit:
                    exact = wanted <= words
                    cost = 0.12 * place + 0.1 * max(0, len(words) - len(wanted)) + (0.0 if exact else 0.25)
                    best = cost if best is None else min(best, cost)
        return best


def _unnamed(linker: Linker) -> frozenset[str]:
    """Tables whose things have no names but codes in their IRIs: they only tie other things together."""
    coded: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for iri, (name, *_) in linker.lexicon.entities.items():
        total[name.relation] += 1
        coded[name.relation] += iri.endswith(name.label) and any(c.isdigit() for c in name.label)
    return frozenset(r for r, n in total.items() if coded[r] > n / 2)


def _kin(linker: Linker) -> dict[str, frozenset[str]]:
    """For each table those that hold things of a kind with its own, by a class that not everything is in."""
    everything = len(linker.schema.groups)
    found: dict[str, frozenset[str]] = defaultdict(frozenset)
    for relations in linker.terms.groups_of_class.values():
        if 1 < len(relations) < everything:
            for relation in relations:
                found[relation] |= relations
    return found
