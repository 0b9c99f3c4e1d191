"""What a kind of rows that only join two kinds leads to, by its name: "coach" by a "player coach"."""

from collections.abc import Sequence

from nacre.language.forms.nouns import singular
from nacre.records.plan import Variable
from nacre.records.schema import Predicate, Schema
from nacre.wording.phrases.predicate_labels import class_noun


def other_links(predicate: Predicate, kind: Sequence[str], schema: Schema) -> list[Predicate]:
    """The other links of the things of a kind that link to something by a predicate."""
    own = set(kind)
    return [p for p in schema.predicates if p.has_links and p.domains.keys() & own and p.iri != predicate.iri]


def associated_noun(noun: str, own: str, ends: Sequence[Predicate], schema: Schema) -> str:
    """What an `own` is joined to by what is called after both: "coach" by a "player coach", "event" by "party in
    events"; "" for others."""
    if len(ends) != 1:
        return ""
    beyond = class_noun(Variable("x", tuple(iri for iri in ends[0].ranges if iri)[:1]), schema)
    words = {singular(word) for word in noun.split()}
    return beyond if words & set(own.split()) and words & set(beyond.split()) else ""
