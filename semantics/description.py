"""Describe one thing: its kind, its links, its values, what links to it -> at most six sentences with their triples."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from records.evidence import Sentence
from records.plan import Variable
from records.schema import Predicate, Schema
from semantics.english import synonyms
from semantics.facts_of import Fact, Run, facts_of, links_of
from semantics.labels_said import Label, class_noun, is_telling, label_of
from semantics.nouns import article, counted, is_plural, joined, plural
from semantics.values_said import is_number_name
from semantics.words import fold, tokens

# triples of one sentence (given: a citation has at most so many)
MOST_CITED = 200
SENTENCES = 6
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
# facts in one sentence, names in one fact, and words of a value that still reads as one
FACTS, NAMES, WORDS = 5, 5, 12


@dataclass(frozen=True)
class _Known:
    """All that a thing has under one predicate."""

    predicate: Predicate
    label: Label
    facts: tuple[Fact, ...]

    @property
    def shown(self) -> list[Fact]:
        """The facts that are said, each value once."""
        return list({f.said: f for f in reversed(self.facts)}.values())[::-1][:NAMES]

    @property
    def said(self) -> str:
        return joined([f.said for f in self.shown])

    def clause(self, owner: str = "") -> str:
        """ "its price is 5 EUR", "it borders Spain"; with an `owner` its name instead of "it"."""
        it = owner or "it"
        number = len({f.said for f in self.facts})
        if self.predicate.datatype == "boolean" and self.said in ("yes", "no"):
            return f"{it} is {'' if self.said == 'yes' else 'not '}{self.label.one}"
        if self.label.kind in ("verb", "past"):
            return f"{it} {self.label.one} {self.said}"
        if self.label.kind in ("state", "flag"):
            return f"{it} is {self.label.one} {self.said}"
        if self.label.kind == "role":
            return f"{it} is {article(self.label.one)} of {self.said}"
        name = plural(self.label.one) if number > 1 else self.label.one
        be = "include" if number > NAMES else "are" if number > 1 or is_plural(name) else "is"
        return f"{f'the {name} of {owner}' if owner else f'its {name}'} {be} {self.said}"


def description(iri: str, name: str, thing: Variable, topic: set[str], schema: Schema, run: Run) -> list[Sentence]:
    """What the thing is, what it links to, its values, and what links to it, each fact once; with a `topic` first what
    has to do with it."""
    known = _once(
        _Known(p, label_of(p.iri, schema), facts)
        for p in schema.predicates
        if is_telling(p, schema)
        if (facts := tuple(f for f in facts_of(p, thing, schema, run) if fold(f.said) != fold(name)))
    )
    known = [k for k in known if len(k.facts[0].said.split()) <= WORDS]
    about = [k for k in known if topic & _lemmas(f"{k.label.one} {k.said}")]
    known = sorted(
        about or known, key=lambda k: (-len(k.predicate.domains.keys() & set(thing.classes)), -k.predicate.subjects)
    )
    linked = [k for k in known if k.predicate.has_links]
    valued = [k for k in known if not k.predicate.has_links]
    sentences: list[tuple[str, Sequence[Fact]]] = []
    noun = class_noun(thing, schema)
    # a room that is called "room 12" need not be said to be a room
    owner = name if name.startswith(f"{noun} ") else ""
    if thing.classes and not owner:
        kind = Fact(iri, "", (iri, TYPE, min(thing.classes, key=lambda c: schema.class_of[c].count)))
        sentences.append((f"{name} is {article(noun)}.", (kind,)))
    sentences += _told(linked, 2, owner)
    sentences += _told(valued, 2, "" if linked else owner)
    if not about:
        sentences += _incoming(name, thing, schema, run)
    return [
        Sentence("sql", 0, text=text, title=name, keys=(iri,), triples=tuple(f.triple for f in facts))
        for text, facts in sentences[:SENTENCES]
    ]


def _told(known: list[_Known], most: int, owner: str = "") -> list[tuple[str, Sequence[Fact]]]:
    """Sentences of several facts each, at most so many; the first names the `owner`, if any."""
    parts = [known[i : i + FACTS] for i in range(0, len(known), FACTS)][:most]
    return [
        (
            _capital(f"{joined([k.clause(owner if k is known[0] else '') for k in part])}."),
            [f for k in part for f in k.shown],
        )
        for part in parts
    ]


def _incoming(name: str, thing: Variable, schema: Schema, run: Run) -> list[tuple[str, Sequence[Fact]]]:
    """Who links to the thing, counted by their kind."""
    clauses, told = [], list[Fact]()
    for predicate in schema.predicates:
        if predicate.role != "fact" or not predicate.has_links or not set(predicate.ranges) & set(thing.classes):
            continue
        facts = links_of(predicate, thing, schema, run, incoming=True)
        others = list(dict.fromkeys(f.said for f in facts))
        if not facts or any(f.triple[0] == f.triple[2] for f in facts):
            continue
        kind = max((c for c in predicate.domains if c), key=lambda c: predicate.domains[c], default="")
        noun = class_noun(Variable("x", (kind,) if kind else ()), schema)
        label = label_of(predicate.iri, schema)
        numbered = all(is_number_name(f.said, (f.triple[0],)) for f in facts)
        named = f" ({joined(others)})" if 1 < len(others) <= NAMES and not numbered else ""
        number = counted(len(facts), noun) if len(facts) > 1 else article(noun) if numbered else others[0]
        if label.kind == "noun":
            clauses.append(f"the {label.one} of {number}{named}")
            # what is counted can be counted again
            told += facts[:MOST_CITED]
    if not clauses:
        return []
    return [(f"It is {joined(clauses[:FACTS])}.", told)]


def _once(known: Iterable[_Known]) -> list[_Known]:
    """Without what is said a second time: the same value under a label that shares a word."""
    seen: dict[str, list[set[str]]] = defaultdict(list)
    found = []
    for each in known:
        words = _lemmas(each.label.one)
        value = each.facts[0]
        key = f"{value.number:g}" if value.number is not None and len(each.facts) == 1 else fold(each.said)
        if any(words & other for other in seen[key]):
            continue
        seen[key].append(words)
        found.append(each)
    return found


def _lemmas(text: str) -> set[str]:
    return {form for t in tokens(text) for form in synonyms(t.lemma)}


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
