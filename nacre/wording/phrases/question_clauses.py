"""Word what is asked of things: predicate + the words for things -> "when ships were built"."""

from nacre.language.forms.verbs import active_verb, agent_noun
from nacre.records.schema import Schema
from nacre.wording.labels.label import PredicateLabel
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.labels.value_kinds import is_temporal


def question_clause(iri: str, things: str, schema: Schema, *, many: bool) -> str:
    """The question for a property without a noun: "when Emma was built", "whether ships are open"; else ""."""
    label = predicate_label(iri, schema)
    if schema.predicate_of[iri].datatype == "boolean":
        return f"whether {things} {label.flag().words(many)}"
    if label.kind in ("state", "past", "verb") and is_temporal(iri, schema):
        return f"when {things} {label.event().words(many)}"
    if label.kind in ("verb", "past") or (label.kind == "state" and not agent_noun(label.one)):
        return f"what {things} {label.phrase().words(many)}"
    return ""


def pair_phrase(label: PredicateLabel, things: str, others: str, *, backward: bool) -> str:
    """Things with what they link to: "ships and their captains"; or `backward` with what links to them."""
    if label.kind == "noun":
        theirs = f"the {others} whose {label.one} they are" if backward else f"their {label.many}"
        return f"{things} and {theirs}"
    if label.kind == "role":
        return ""
    made = active_verb(label.one) if backward and label.kind in ("state", "flag") else None
    if made is not None:
        return f"{things} and the {others} that they {made.many}"
    said = label.phrase().words(many=True)
    return f"{things} and the {others} that {f'{said} them' if backward else f'they {said}'}"
