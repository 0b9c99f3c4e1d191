"""Rules for things that were done: the class of one at hand, named by a verb + State -> what is asked of it."""

from collections.abc import Iterator

from nacre.semantics.english import is_person
from nacre.semantics.language.base import language
from nacre.semantics.nouns import is_plural
from nacre.semantics.parsing.state import Reader, State, with_node
from nacre.semantics.types import Link, Ref, Target


def objects(state: State, new: State, link: Link, reader: Reader) -> Iterator[State]:
    """ "What did Ann order": what a thing that was done leads to, besides who did it."""
    words, known = reader.question.tokens, language().words
    asked = words[0].norm in known["asking_kind"] and words[1].norm in known["helping"] if len(words) > 1 else False
    verb = words[link.end - 1]
    if not asked or state.targets or state.last != "value" or link.end - link.start > 1 or is_plural(verb.norm):
        return
    graph, node = reader.graph, link.refs[0].node
    if graph.nodes[node].named:
        return
    doing = {n.node for n in state.nodes}
    for step in graph.steps[node]:
        other = graph.nodes[step.target]
        if step.forward and other.named and step.target not in doing and not is_person(other.label):
            target = Target(Ref(step.target))
            hints = state.hints | {step.predicate}
            yield with_node(new, target.ref, reader).then("object of event", 0.4, targets=(target,), hints=hints)
