"""Readings that ask for what the question names, or relate things to themselves: Candidates -> those left."""

from nacre.language.base import language
from nacre.records.plan import Body, Select
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.mention_rules.entities_and_values import IDENTIFIER_RULE
from nacre.understanding.parsing.readers.keywords import is_keywords
from nacre.understanding.parsing.state import Candidate, ParseContext
from nacre.understanding.question.types import Derivation, Ref


def drop_self_references(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Return the readings that do not count each thing as one of itself, and do not ask for what is named.

    A yes/no question may ask for what it names, and so may keywords. Others do if there is no other reading, but not
    for its number.
    """
    question = context.question
    kept = [c for c in candidates if not (_counts_itself(c.derivation) or _repeats_end(c.body, context.graph))]
    if is_keywords(question) or (question.tokens and question.tokens[0].norm in language().words["asking_yes_no"]):
        return kept
    kept = [c for c in kept if not _targets_named_thing(c.derivation, counted=True)]
    return [c for c in kept if not _targets_named_thing(c.derivation, counted=False)] or kept


def _counts_itself(derivation: Derivation) -> bool:
    """Whether each thing is counted as one of its own class: "clubs with the most clubs"."""
    targets, group = derivation.targets, derivation.group
    if any(each.function == "count" and not each.ref.predicate and each.ref in group for each in targets):
        return True
    things = {target.ref for target in targets if not target.function and not target.ref.predicate}
    counted = [each.ref for each in derivation.conditions if each.function == "count" and not each.ref.predicate]
    order = derivation.order
    if order is not None and order.function == "count" and not order.ref.predicate:
        counted.append(order.ref)
    return set(group) <= things and any(ref in things for ref in counted)


def _repeats_end(body: Body, graph: SchemaGraph) -> bool:
    """Whether two variables stand at the one end that a link has: the sailors of each sailor's rentals."""
    if not isinstance(body, Select):
        return False
    classes = {variable.name: variable.classes for variable in body.variables if not variable.keys}
    ends = [
        (edge.subject, edge.predicate, classes[edge.object])
        for edge in body.edges
        if edge.object in classes and graph.about(edge.predicate).functional
    ]
    return len(set(ends)) < len(ends)


def _targets_named_thing(derivation: Derivation, counted: bool) -> bool:
    """Whether a reading asks for a thing that the question names, or for its number: "which states are Texas"."""
    if "named so" in derivation.trace or IDENTIFIER_RULE in derivation.trace:
        return False
    named = {each.ref for each in derivation.conditions if each.op == "is" and len(each.keys) == 1 and not each.negated}
    if counted:
        # one thing, however many values it has
        refs: list[Ref] = [each.ref for each in derivation.targets if each.function == "count" and not each.distinct]
    else:
        refs = [each.ref for each in derivation.targets if not each.ref.predicate]
    return any(ref.thing in named for ref in refs)
