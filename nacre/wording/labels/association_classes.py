"""Name what a class that only joins two others leads to: "coach" for a "player coach"."""

from collections.abc import Sequence

from nacre.language.forms.nouns import singular
from nacre.records.plan import Variable
from nacre.records.schema import Predicate, Schema
from nacre.wording.labels.class_nouns import class_noun


def other_links(predicate: Predicate, classes: Sequence[str], schema: Schema) -> list[Predicate]:
    """The other links of the things of some classes that link to something by a predicate."""
    own = set(classes)
    return [p for p in schema.predicates if p.has_links and p.domains.keys() & own and p.iri != predicate.iri]


def associated_noun(noun: str, own: str, links: Sequence[Predicate], schema: Schema) -> str:
    """What an `own` is joined to by a class that is named after both; "" for other classes.

    "coach" by a "player coach", "event" by "party in events". `links` are the further links of the class.
    """
    if len(links) != 1:
        return ""
    beyond = class_noun(Variable("x", tuple(iri for iri in links[0].ranges if iri)[:1]), schema)
    words = {singular(word) for word in noun.split()}
    return beyond if words & set(own.split()) and words & set(beyond.split()) else ""
