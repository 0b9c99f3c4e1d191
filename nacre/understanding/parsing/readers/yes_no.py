"""Read yes/no questions: Candidate -> Candidate that asks whether there is a row ("is Emma a novel")."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from nacre.language.base import language
from nacre.language.booleans import alternative_values, none_value, true_value
from nacre.records.plan import Aggregate, Ask, Attribute, Filter, Itself, Select
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.state import Candidate, ParseContext
from nacre.understanding.question.types import Link, Question

# the longest second question that asks which: "which of them"
MAX_SECOND_QUESTION_WORDS = 3


def as_yes_no(candidate: Candidate, context: ParseContext) -> Candidate:
    """Return the reading as a yes/no question if the question begins like one; requested properties are checked."""
    body, links = candidate.body, candidate.derivation.links
    question, graph = context.question, context.graph
    if not _asks_yes_no(candidate, question) or not isinstance(body, Select):
        return candidate
    if (choice := _choice_of_values(body, links, question, graph)) is not None:
        return candidate._replace(body=choice)
    answer = body.answers[0]
    variable = answer.of.variable if isinstance(answer, Aggregate) else answer.variable
    has_group_filter = any(isinstance(each.left, Aggregate) for each in body.filters)
    select = replace(
        body,
        answers=(Itself(variable),),
        filters=(*body.filters, *_property_checks(body, links, question, graph)),
        group=body.group if has_group_filter else (),
        by=(),
        order=None,
        limit=None,
    )
    return candidate._replace(body=Ask(select))


def _asks_yes_no(candidate: Candidate, question: Question) -> bool:
    """Whether the question begins like one for yes or no. "Could I take a dog to ..." asks, "can you list ..." is
    polite."""
    known = language().words
    first, second = [*(token.norm for token in question.tokens[:2]), "", ""][:2]
    is_polite = first in known["polite"] and second in known["polite_object"]
    if is_polite and "flag" not in candidate.derivation.trace:
        return False
    return isinstance(candidate.body, Select) and first in known["asking_yes_no"] and not _asks_which(question)


def _asks_which(question: Question) -> bool:
    """Whether a second question asks for the things: "Is there a room without a window? Which one?"."""
    if len(question.tokens) <= MAX_SECOND_QUESTION_WORDS:
        return False
    before, last = (token.norm for token in question.tokens[-2:])
    known = language().words
    return last in known["asking_which"] or (before in known["asking_which"] and last in known["pronouns"])


def _choice_of_values(select: Select, links: Sequence[Link], question: Question, graph: SchemaGraph) -> Select | None:
    """The value that a question ending in "red or blue" asks for; None if it asks whether there is either."""
    words, known = question.tokens, language().words
    if words[0].norm not in known["being"] or words[1].norm in known["there"]:
        return None
    asked = select.answers[0]
    if isinstance(asked, Attribute) and alternative_values(graph.about(asked.predicate)):
        properties = (link for link in links if link.kind == "property")
        named = [link for link in properties if any(ref.predicate == asked.predicate for ref in link.refs)]
        says_both = any(words[i].norm in known["either"] for link in named for i in range(link.start, link.end))
        return select if says_both else None
    of_any = [each for each in select.filters if isinstance(each.right, tuple) and isinstance(each.left, Attribute)]
    last = {link.start for link in links if link.kind == "value" and link.end == len(words)}
    if len(of_any) != 1 or not any(cue.kind == "or" and cue.end in last for cue in question.cues):
        return None
    left = of_any[0].left
    assert isinstance(left, Attribute)
    return replace(select, answers=(left,), filters=tuple(each for each in select.filters if each is not of_any[0]))


def _property_checks(select: Select, links: Sequence[Link], question: Question, graph: SchemaGraph) -> Iterator[Filter]:
    """What must hold for the properties that a yes/no question names without a comparison.

    A boolean holds ("is he blocked"), an amount is more than nothing ("does it cost anything"), any other property has
    a value.
    """
    compared = {each.left for each in select.filters}
    named = {ref.predicate for link in links for ref in link.refs}
    says_anything = any(token.norm in language().words["anything"] for token in question.tokens)
    for attribute in dict.fromkeys(answer for answer in select.answers if isinstance(answer, Attribute)):
        if attribute in compared or attribute.predicate not in named:
            continue
        about = graph.about(attribute.predicate)
        is_zero_or_one = (about.datatype, about.minimum, about.maximum) == ("integer", 0, 1)
        yes = 1 if is_zero_or_one else true_value(about)
        is_amount = graph.is_numeric(attribute.predicate) and not graph.is_date(attribute.predicate)
        if yes is not None:
            yield Filter(attribute, "=", yes)
        elif says_anything and is_amount:
            yield Filter(attribute, ">", 0)
        else:
            none = none_value(about)
            yield Filter(attribute, "known") if none is None else Filter(attribute, "!=", none)


def keep_named_things(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Drop the yes/no readings that leave out a named thing which others use."""
    names = [link.covered for link in context.links if link.kind == "entity" and link.exact]
    asking = [_asks_yes_no(each, context.question) for each in candidates]
    counts = [sum(each.derivation.covered & name == name for name in names) for each in candidates]
    most = max((count for count, asks in zip(counts, asking, strict=True) if asks), default=0)
    checked = zip(candidates, counts, asking, strict=True)
    return [each for each, count, asks in checked if count == most or not asks]
