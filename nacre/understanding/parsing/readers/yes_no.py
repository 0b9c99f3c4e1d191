"""Questions that are answered by yes or no: Candidate -> Candidate that asks whether there is a row."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from nacre.language.base import language
from nacre.language.booleans import alternative_values, none_value, true_value
from nacre.records.plan import Aggregate, Ask, Attribute, Filter, Itself, Select, Variable
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.question.types import INEQUALITIES, Derivation, Link, Question, Ref, Target

# "is", a name, an article and a kind
LEAST = 4

# words of a second question that asks which
LONGEST_SECOND = 3


def as_yes_no(candidate: Candidate, question: Question, graph: SchemaGraph) -> Candidate:
    """The reading as a yes/no question where the question begins like one; a property that is asked for is checked."""
    first = question.tokens[0].norm if question.tokens else ""
    body = candidate.body
    second = question.tokens[1].norm if len(question.tokens) > 1 else ""
    polite = first in language().words["polite"] and second in language().words["polite_object"]
    # "could I take a dog to ..." asks, "can you list ..." is polite
    if polite and "flag" not in candidate.derivation.trace:
        return candidate
    if _asks_which(question):
        return candidate
    if first not in language().words["asking_yes_no"] or not isinstance(body, Select):
        return candidate
    if (either := _either(body, candidate.derivation.links, question, graph)) is not None:
        return candidate._replace(body=either)
    answer = body.answers[0]
    variable = answer.of.variable if isinstance(answer, Aggregate) else answer.variable
    select = replace(
        body,
        answers=(Itself(variable),),
        filters=(*body.filters, *_checked(body, candidate.derivation.links, question, graph)),
        group=body.group if _having(body) else (),
        by=(),
        order=None,
        limit=None,
    )
    return candidate._replace(body=Ask(select))


def _either(select: Select, links: Sequence[Link], question: Question, graph: SchemaGraph) -> Select | None:
    """What a question that ends in "red or blue" asks for: which of these it is; None for one that asks whether there
    is any that is."""
    words = question.tokens
    if words[0].norm not in language().words["being"] or words[1].norm in language().words["there"]:
        return None
    asked = select.answers[0]
    if isinstance(asked, Attribute) and alternative_values(graph.about(asked.predicate)):
        named = [x for x in links if x.kind == "property" and any(r.predicate == asked.predicate for r in x.refs)]
        both = any(words[i].norm in language().words["either"] for x in named for i in range(x.start, x.end))
        return select if both else None
    of_any = [f for f in select.filters if isinstance(f.right, tuple) and isinstance(f.left, Attribute)]
    last = {x.start for x in links if x.kind == "value" and x.end == len(words)}
    if len(of_any) != 1 or not any(c.kind == "or" and c.end in last for c in question.cues):
        return None
    rest = tuple(f for f in select.filters if f is not of_any[0])
    left = of_any[0].left
    assert isinstance(left, Attribute)
    return replace(select, answers=(left,), filters=rest)


def _checked(select: Select, links: Sequence[Link], question: Question, graph: SchemaGraph) -> Iterator[Filter]:
    """What must hold of the properties that a yes/no question names and compares with nothing: a flag says yes ("is he
    blocked"), an amount is above nothing ("does it cost anything"), any other property has a value."""
    compared = {f.left for f in select.filters}
    named = {ref.predicate for link in links for ref in link.refs}
    nothing = any(t.norm in language().words["anything"] for t in question.tokens)
    for each in dict.fromkeys(a for a in select.answers if isinstance(a, Attribute)):
        if each in compared or each.predicate not in named:
            continue
        about = graph.about(each.predicate)
        yes = 1 if (about.datatype, about.minimum, about.maximum) == ("integer", 0, 1) else true_value(about)
        if yes is not None:
            yield Filter(each, "=", yes)
        elif nothing and graph.is_numeric(each.predicate) and not graph.is_date(each.predicate):
            yield Filter(each, ">", 0)
        else:
            none = none_value(about)
            yield Filter(each, "known") if none is None else Filter(each, "!=", none)


def keep_named_things(candidates: Sequence[Candidate], links: Sequence[Link]) -> list[Candidate]:
    """The readings without those that ask for yes or no and leave out a named thing that others speak of."""
    named = [x.covered for x in links if x.kind == "entity" and x.exact]
    said = [sum(c.derivation.covered & mask == mask for mask in named) for c in candidates]
    most = max((n for n, c in zip(said, candidates, strict=True) if isinstance(c.body, Ask)), default=0)
    return [c for n, c in zip(said, candidates, strict=True) if n == most or not isinstance(c.body, Ask)]


def is_comparable(candidate: Candidate, graph: SchemaGraph) -> bool:
    """Whether a yes/no reading compares what can be compared: no text with a number ("8.00 EUR" under 10 is never
    true), and no count of a named thing, of which there is one."""
    if not isinstance(candidate.body, Ask):
        return True
    conditions = candidate.derivation.conditions
    named = {c.ref for c in conditions if c.op == "is" and len(c.keys) == 1}
    return all(
        c.ref not in named if c.function else graph.is_numeric(c.ref.predicate) or graph.is_date(c.ref.predicate)
        for c in conditions
        if c.op in INEQUALITIES and (c.function or c.ref.predicate)
    )


def _asks_which(question: Question) -> bool:
    """Whether a second question asks for the things: "Is there a room without a window? Which one?"."""
    last = [t.norm for t in question.tokens[-2:]]
    asking = language().words["asking_which"]
    if len(question.tokens) <= LONGEST_SECOND:
        return False
    return last[-1] in asking or (last[0] in asking and last[1] in language().words["pronouns"])


def _having(select: Select) -> bool:
    return any(isinstance(f.left, Aggregate) for f in select.filters)


def read_kind_question(question: Question, links: Sequence[Link], graph: SchemaGraph) -> Candidate | None:
    """ "Is Emma a novel?": whether a named thing is of a kind, where the question says nothing else."""
    words = question.tokens
    if len(words) < LEAST or words[0].norm not in language().words["being"]:
        return None
    last = [x for x in links if x.kind == "class" and x.exact and x.end == len(words)]
    for kind in last:
        if words[kind.start - 1].norm not in language().words["article"]:
            continue
        # "is the tuba a brass instrument"
        starts = (1, 2) if words[1].norm in language().words["article"] else (1,)
        named = [x for x in links if x.kind == "entity" and x.exact and x.start in starts and x.end == kind.start - 1]
        if not named:
            continue
        keys = tuple(dict.fromkeys(k for x in named for k in x.keys))
        node = graph.nodes[kind.refs[0].node]
        thing = Variable("thing", node.classes, node.without, keys, named[0].label)
        ref = Ref(node.index)
        whole = (1 << len(words)) - 1
        derivation = Derivation(
            (Target(ref),), (), (), None, (ref,), "", whole, 1.0, ("of kind",), (named[0], kind)
        )  # fmt: skip
        return Candidate(derivation, Ask(Select((Itself("thing"),), (thing,))), 0.0, 0, 0, 0)
    return None
