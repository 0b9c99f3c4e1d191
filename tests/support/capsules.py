"""All facts of one subject: Facts -> capsules, in an order that does not depend on the file."""

from typing import NamedTuple

from ingestion.read.facts import Facts
from nacre.records.evidence import Term


class Fact(NamedTuple):
    predicate: str
    object: Term
    graph: str = ""


class Capsule(NamedTuple):
    subject: Term
    facts: tuple[Fact, ...]


def capsules(facts: Facts) -> list[Capsule]:
    """The facts of each subject, subjects and facts in the order of their texts."""
    found: dict[int, list[Fact]] = {}
    graphs = facts.graph if facts.graph is not None else [0] * len(facts.subject)
    for s, p, o, g in zip(facts.subject, facts.predicate, facts.object, graphs, strict=True):
        fact = Fact(facts.texts[p], facts.term(o), "" if facts.graph is None else facts.texts[g])
        found.setdefault(int(s), []).append(fact)
    each = sorted(found, key=facts.texts.__getitem__)
    return [Capsule(facts.term(number), tuple(sorted(found[number]))) for number in each]
