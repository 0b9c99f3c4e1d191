"""Word what is asked of things: predicate + the words for things -> "when ships were built"."""

from nacre.language.forms.verbs import active_forms, agent_noun, strip_preposition
from nacre.records.schema import Schema
from nacre.wording.labels.label import PredicateLabel, flag_phrases
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.labels.value_kinds import is_temporal


def question_clause(iri: str, things: str, schema: Schema, *, many: bool) -> str:
    """The question for a property without a noun: "when Emma was built", "whether ships are open"; else ""."""
    label = predicate_label(iri, schema)
    if schema.predicate_of[iri].datatype == "boolean":
        return f"whether {things} {flag_phrases(label, True)[many]}"
    if label.kind in ("state", "past") and is_temporal(iri, schema):
        done = strip_preposition(label.one)
        return f"when {things} {done}" if label.kind == "past" else f"when {things} {('was', 'were')[many]} {done}"
    if label.kind == "verb" and is_temporal(iri, schema):
        return f"when {things} {strip_preposition(label.many if many else label.one)}"
    if label.kind == "state" and not agent_noun(label.one):
        return f"what {things} {label.be[many]} {label.one}"
    if label.kind in ("verb", "past"):
        return f"what {things} {label.many if many and label.kind == 'verb' else label.one}"
    return ""


def pair_phrase(label: PredicateLabel, things: str, others: str, *, backward: bool) -> str:
    """Things with what they link to: "ships and their captains"; or `backward` with what links to them."""
    if not backward:
        if label.kind in ("noun", "role"):
            return f"{things} and their {label.many}" if label.kind == "noun" else ""
        verb = label.one if label.kind == "past" else label.many
        return f"{things} and the {others} that they {f'{label.be[1]} {label.one}' if _is_state(label) else verb}"
    if label.kind == "noun":
        return f"{things} and the {others} whose {label.one} they are"
    if label.kind == "role":
        return ""
    if _is_state(label):
        made = active_forms(label.one)
        if made is not None:
            return f"{things} and the {others} that they {made.many}"
        return f"{things} and the {others} that {label.be[1]} {label.one} them"
    return f"{things} and the {others} that {label.one if label.kind == 'past' else label.many} them"


def _is_state(label: PredicateLabel) -> bool:
    return label.kind in ("state", "flag")
