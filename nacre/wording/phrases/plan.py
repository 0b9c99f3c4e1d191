"""Explain a plan in plain English, as a noun phrase that an answer can go on from: Plan -> str."""

from nacre.language.forms.nouns import with_indefinite_article
from nacre.language.tokens import split_name
from nacre.plans.merge import is_from_earlier_turn
from nacre.records.plan import (
    Aggregate,
    Ask,
    Attribute,
    Combine,
    Compute,
    Itself,
    Overview,
    Plan,
    PlanTerm,
    Profile,
    Select,
)
from nacre.records.schema import Schema
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.labels.value_kinds import nominal_label
from nacre.wording.phrases.membership_clauses import negated_clause
from nacre.wording.phrases.select import existence_statements, select_wording, verbalise_select

_COMPARED = {
    "<": "is lower than",
    "<=": "is at most",
    ">": "is higher than",
    ">=": "is at least",
    "=": "equals",
    "!=": "differs from",
}
_COMPUTED = {"-": "the difference between {} and {}", "/": "the ratio of {} to {}", "+": "the sum of {} and {}",
             "%": "{} as a percentage of {}",
             **{unit: f"the {unit} from {{1}} to {{0}}" for unit in ("years", "days", "hours", "minutes")},
             "age": "the age from {1} on"}  # fmt: skip


def verbalise_plan(plan: Plan, schema: Schema, many: bool = True) -> str:
    """What the plan asks, naming classes and predicates by their labels, never tables or columns; with `many` off as
    one thing, where what others lack is said of it ("the person whose town is not Rome")."""
    body = plan.body
    if isinstance(body, Combine):
        left, right = verbalise_select(body.left, schema), verbalise_select(body.right, schema)
        if body.op == "difference" and (plain := negated_clause(right, f"{left} ")):
            return f"{verbalise_select(body.left, schema, many)} {plain}"
        said = (f"{left} whose ", f"{left} with", f"{left} that ", f"{left} who ")
        if body.op == "difference" and right.startswith(said):
            return f"{left} except those{right.removeprefix(left)}"
        word = {"union": "or", "intersection": "that are also among the", "difference": "except the"}[body.op]
        return f"{left} {word} {right.removeprefix('the ') if body.op != 'union' else right}"
    if isinstance(body, Compute):
        left, right = _one(body.left, schema), _one(body.right, schema)
        if body.op in _COMPARED:
            return f"whether {left} {_COMPARED[body.op]} {right}"
        return _COMPUTED.get(body.op, "{} times {}").format(left, right)
    if isinstance(body, Ask):
        return f"whether {ask_statements(body.select, schema)[0]}"
    if isinstance(body, Profile):
        return verbalise_profile(body, schema)
    if isinstance(body, Overview):
        return "what this graph holds"
    return verbalise_select(body, schema) if isinstance(body, Select) else "what is asked"


def ask_statements(select: Select, schema: Schema) -> tuple[str, str]:
    """The sentence that a yes-or-no question asks about, without its full stop, and the same denied."""
    kind = class_question_parts(select, schema)
    if kind is not None:
        return f"{kind[0]} is {kind[1]}", f"{kind[0]} is not {kind[1]}"
    return existence_statements(select, schema)


def class_question_parts(select: Select, schema: Schema) -> tuple[str, str] | None:
    """The thing and the kind, with its article, where nothing is asked of a named thing but whether it is of a kind."""
    thing = select.variables[0]
    if len(select.variables) > 1 or select.filters or not (thing.keys and thing.classes) or is_from_earlier_turn(thing):
        return None
    return thing.label, with_indefinite_article(select_wording(select, schema).noun(thing.name))


def verbalise_profile(profile: Profile, schema: Schema) -> str:
    """What a description or comparison is about."""
    members = verbalise_select(profile.members, schema)
    about = f", as to {profile.topic}" if profile.topic else ""
    if profile.against is not None:
        return f"how {members} and {verbalise_select(profile.against, schema)} compare{about}"
    return f"what is known of {members}{about}"


def predicate_words(iri: str, schema: Schema) -> str:
    """The label of a predicate as words."""
    return split_name(schema.predicate_of[iri].label)


def column_heading(term: PlanTerm, select: Select, schema: Schema) -> str:
    """The heading of an answer's column: the thing's noun, the property's label, or what is computed."""
    wording = select_wording(select, schema)
    if isinstance(term, Itself):
        return _linked(term, select, schema) or wording.noun(term.variable)
    if isinstance(term, Aggregate):
        return wording.computed(term, short=True)
    if isinstance(term, Attribute):
        # "year built" of "built in"
        full = predicate_label(term.predicate, schema).full or nominal_label(term.predicate, schema)
        return term.part if term.part in ("year", "month") else full
    return "value"


def _linked(term: Itself, select: Select, schema: Schema) -> str:
    """What a thing is to one that stands in a column before it: the captain of a ship; "" where its kind says it."""
    if term not in select.answers:
        return ""
    before = [a.variable for a in select.answers[: select.answers.index(term)] if isinstance(a, Itself)]
    edges = [e for e in select.edges if e.object == term.variable and e.subject in before]
    if len(edges) != 1:
        return ""
    label, words = predicate_label(edges[0].predicate, schema), select_wording(select, schema)
    if label.kind == "noun" or (label.kind == "state" and label.one.endswith(" by")):
        return label.one
    alike = words.noun(edges[0].subject) == words.noun(term.variable)
    return (f"{label.one} of" if label.kind == "role" else label.one) if alike else ""


def _one(select: Select, schema: Schema) -> str:
    return verbalise_select(select, schema, many=False)
