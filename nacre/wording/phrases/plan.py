"""Explain a plan in plain English, as a noun phrase that an answer can go on from: Plan -> words."""

from nacre.language.base import phrase_list, word_map
from nacre.language.forms.nouns import plural, with_indefinite_article
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
    Variable,
)
from nacre.records.schema import Schema
from nacre.wording.clauses.membership_clauses import negated_clause
from nacre.wording.labels.class_nouns import class_noun
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.labels.value_kinds import nominal_label
from nacre.wording.phrases.select import select_wording, verbalise_select
from nacre.wording.phrases.statements import existence_statements, universal_statement


def verbalise_plan(plan: Plan, schema: Schema, many: bool = True) -> str:
    """What the plan asks, with the labels of classes and predicates and without names of tables and columns.

    With `many` off, a difference of sets is one thing: "the person whose town is not Rome".
    """
    body = plan.body
    if isinstance(body, Combine):
        left, right = verbalise_select(body.left, schema), verbalise_select(body.right, schema)
        if body.op == "difference" and (plain := negated_clause(right, f"{left} ")):
            return f"{verbalise_select(body.left, schema, many)} {plain}"
        conditions = tuple(f"{left} {start}" for start in phrase_list("wording", "difference_starts"))
        if body.op == "difference" and right.startswith(conditions):
            return f"{left} except those{right.removeprefix(left)}"
        conjunction = word_map("wording", "set_operations")[body.op]
        return f"{left} {conjunction} {right.removeprefix('the ') if body.op != 'union' else right}"
    if isinstance(body, Compute) and (statement := universal_statement(body, schema)):
        return f"whether {statement}"
    if isinstance(body, Compute):
        left, right = _one(body.left, schema), _one(body.right, schema)
        comparisons = word_map("wording", "number_comparisons")
        if body.op in comparisons:
            return f"whether {left} {comparisons[body.op]} {right}"
        return word_map("wording", "calculations")[body.op].format(left, right)
    if isinstance(body, Ask):
        return f"whether {ask_statements(body.select, schema)[0]}"
    if isinstance(body, Profile):
        return verbalise_profile(body, schema)
    if isinstance(body, Overview):
        return "what this graph holds"
    return verbalise_select(body, schema) if isinstance(body, Select) else "what is asked"


def ask_statements(select: Select, schema: Schema) -> tuple[str, str]:
    """The statement that a yes-or-no question asks about, and its denial."""
    kind = class_question_parts(select, schema)
    if kind is not None:
        return f"{kind[0]} is {kind[1]}", f"{kind[0]} is not {kind[1]}"
    if subclass := _subclass_statements(select, schema):
        return subclass
    return existence_statements(select, schema)


def class_question_parts(select: Select, schema: Schema) -> tuple[str, str] | None:
    """The thing and the class with its article, if a question only asks whether a named thing is of a class."""
    thing = select.variables[0]
    if (
        len(select.variables) > 1
        or select.filters
        or not (thing.keys and (thing.classes or thing.any_of))
        or is_from_earlier_turn(thing)
    ):
        return None
    return thing.label, with_indefinite_article(select_wording(select, schema).noun(thing.name))


def _subclass_statements(select: Select, schema: Schema) -> tuple[str, str] | None:
    """ "Ewes are sheep", or "some ewes ...", and the denial; None for other questions."""
    thing = select.variables[0]
    if len(select.variables) > 1 or select.filters or thing.keys or not (thing.classes and thing.noun):
        return None
    own, *wider = thing.classes
    nouns = [plural(class_noun(Variable("x", (iri,)), schema)) for iri in (own, *wider[:1])]
    kind = nouns[1] if wider else plural(thing.noun)
    groups = schema.groups_of_class
    within = [frozenset[str]().union(*(groups.get(iri, ()) for iri in each)) for each in (wider[:1], thing.any_of)]
    is_all = own in thing.any_of or any(groups.get(own, frozenset()) <= each for each in within if each)
    return f"{'' if is_all else 'some '}{nouns[0]} are {kind}", f"{nouns[0]} are not {kind}"


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
        return _link_heading(term, select, schema) or wording.noun(term.variable)
    if isinstance(term, Aggregate):
        return wording.computed(term, short=True)
    if isinstance(term, Attribute):
        # "year built" of "built in"
        full = predicate_label(term.predicate, schema).full or nominal_label(term.predicate, schema)
        return term.part if term.part in ("year", "month") else full
    return "value"


def _link_heading(term: Itself, select: Select, schema: Schema) -> str:
    """The link from a thing in an earlier column: the captain of a ship; "" if the class says it."""
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
