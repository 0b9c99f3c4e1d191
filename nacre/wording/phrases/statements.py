"""Word a select as a statement: Select + Schema -> "Spain borders France", and its denial."""

from dataclasses import replace

from nacre.language.base import language
from nacre.language.forms.nouns import join_names, with_indefinite_article
from nacre.plans.inspect_select import answer_variable
from nacre.plans.merge import is_from_earlier_turn
from nacre.records.plan import Aggregate, Attribute, Compute, Select
from nacre.records.schema import Schema
from nacre.wording.clauses.filter_clauses import filter_clause
from nacre.wording.clauses.join_clauses import thing_name
from nacre.wording.labels.predicate_labels import predicate_label
from nacre.wording.phrases.noun_phrase import SelectWording
from nacre.wording.phrases.select import select_wording


def existence_statements(select: Select, schema: Schema) -> tuple[str, str]:
    """The select as a statement, and its denial: "Spain borders France", "there are no ..."."""
    wording = select_wording(select, schema)
    root = answer_variable(select)
    known = wording.variables.get(root)
    # of several things with one name it is enough that one meets the conditions
    is_named = known is not None and known.keys and known.label and " or " not in known.label
    if known is not None and is_named and not is_from_earlier_turn(known):
        clauses = wording.clauses(root, frozenset(), 0)
        name = thing_name(known, wording.noun(root))
        if clauses:
            true = join_names([clause.sentence(name) for clause in clauses])
            is_single = len(clauses) == 1
            false = clauses[0].sentence(name, denied=True) if is_single else f"it is not true that {true}"
            return true, false
    if statements := _possession_statements(select, wording) or _linked_thing_statements(select, wording):
        return statements
    things = wording.things(root, True, frozenset(), 0)
    if known is not None and is_from_earlier_turn(known):
        return f"there are some among {things}", f"there are none among {things}"
    return f"there are {things}", f"there are no {things.removeprefix('the ')}"


def universal_statement(body: Compute, schema: Schema, numbers: tuple[int, int] | None = None) -> str:
    """Whether all things meet conditions, as a statement: "all of those 3 doors are open", or of the `numbers` of those
    that do and of all: "only 2 of those 3 doors are open". Empty for other comparisons."""
    count, all_of = body.left.answers[0], body.right
    is_count = isinstance(count, Aggregate) and count.function == "count" and body.left.answers == all_of.answers
    if body.op != "=" or not is_count or all_of.edges or all_of.filters or len(all_of.variables) != 1:
        return ""
    name = all_of.variables[0].name
    things = select_wording(all_of, schema).things(name, True, frozenset(), 0)
    clauses = select_wording(body.left, schema).clauses(name, frozenset(), 0)
    is_class = not is_from_earlier_turn(all_of.variables[0])
    meeting, every = numbers or (1, 1)
    those = f"the {every} {things}" if is_class and numbers else things
    many = f"all {things}" if is_class else f"all of {those}"
    if meeting < every:
        many = f"only {meeting} of {those}" if meeting else f"none of {those}"
    texts = [clause.one if meeting == 1 < every else clause.many for clause in clauses]
    leads = tuple(f"{word} " for word in language().words["who"] | {"that"})
    if all(text.startswith(leads) for text in texts):
        return f"{many} {join_names([text.partition(' ')[2] for text in texts])}"
    return f"this is true of {many}"


def _possession_statements(select: Select, wording: SelectWording) -> tuple[str, str] | None:
    """What one named thing has, if a link names its class: "Ann has a policy", of its "customer"; None for others."""
    if len(select.edges) != 1 or len(select.variables) != 2 or select.filters:
        return None
    edge = select.edges[0]
    if edge.subject != answer_variable(select):
        return None
    owner, owned = wording.variables[edge.object], wording.variables[edge.subject]
    owner_noun = wording.noun(edge.object)
    is_one = len(owner.keys) == 1 and owner.label and not owned.keys
    if not is_one or predicate_label(edge.predicate, wording.schema).one != owner_noun:
        return None
    name, noun = thing_name(owner, owner_noun), wording.noun(edge.subject)
    return f"{name} has {with_indefinite_article(noun)}", f"{name} has no {noun}"


def _linked_thing_statements(select: Select, wording: SelectWording) -> tuple[str, str] | None:
    """A condition on the one thing that a named thing links to: "the head of Sales is older than 50", or None."""
    root, schema = answer_variable(select), wording.schema
    if len(select.edges) != 1 or select.edges[0].object != root or wording.variables[root].keys:
        return None
    if len(select.filters) != 1 or isinstance(select.filters[0].right, Select):
        return None
    own = select.filters[0]
    if not isinstance(own.left, Attribute) or own.left.variable != root:
        return None
    edge = select.edges[0]
    if not schema.predicate_of[edge.predicate].functional or len(wording.variables[edge.subject].keys) != 1:
        return None
    name = select_wording(replace(select, filters=()), schema).things(root, False, frozenset(), 0)
    clause = filter_clause(own, schema, None)
    return clause.sentence(name), clause.sentence(name, denied=True)
