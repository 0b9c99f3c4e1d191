"""Superlatives that are part of a name: "the country with the highest peak" is one country, not all that have one."""

from records.plan import Edge, Variable
from semantics.english import Measure, measure
from semantics.to_words import predicate_words
from semantics.work import Node, Parts, Work


def ranked_by_name(work: Work) -> None:
    """Note the kinds of things of which one is meant, and by which number it is the first.

    Where countries have a "highest peak" and a "highest altitude", "the country with the highest peak" is the first by
    that number; "the country with the highest altitude" says the number itself.
    """
    if work.form.bounds or work.form.comparatives:
        return
    for node in [n for n in work.nodes if not n.keys]:
        said = _superlative(work, node.start, node.end)
        if said is None:
            continue
        for owner in _owners(work, node, node.start):
            predicate = _number_called(work, owner, work.words[node.start])
            if predicate:
                work.nodes.remove(node)
                work.ranked.append((owner, predicate, said.descending))
                break
    for pick in list(work.attributes):
        said = _superlative(work, pick.start, pick.end)
        if said is None:
            continue
        for owner in _owners(work, None, pick.start):
            beside = work.words[owner.end : pick.start] == ["with", "the"]
            if beside and _is_number_of(work, owner, pick.predicate):
                work.attributes.remove(pick)
                work.used |= pick.covered
                work.ranked.append((owner, pick.predicate, said.descending))
                break


def whose(work: Work, link: Node, parts: Parts) -> None:
    """ "The highest peak" of no country in particular: that of the country which is the first by such a number."""
    said = _superlative(work, link.start, link.end)
    if said is None:
        return
    ends = work.graph.ends[link.predicate]
    relations = frozenset(end.object if link.backward else end.subject for end in ends)
    owner = Node(work.fresh("owner"), link.start, link.start, "class", relations, *work.type_of(relations))
    predicate = _number_called(work, owner, work.words[link.start])
    if predicate:
        parts.variables.append(Variable(owner.name, owner.classes, owner.without))
        ends_of = (link.name, owner.name) if link.backward else (owner.name, link.name)
        parts.edges.append(Edge(ends_of[0], link.predicate, ends_of[1]))
        work.ranked.append((owner, predicate, said.descending))


def _superlative(work: Work, start: int, end: int) -> Measure | None:
    """The superlative that a name begins with, where one thing is meant: "the highest peak", not "highest peaks"."""
    said, last = measure(work.tokens[start]), work.tokens[end - 1]
    one = last.norm == last.lemma and work.words[max(0, start - 1) : start] == ["the"]
    return said if one and said is not None and said.degree == "superlative" else None


def _owners(work: Work, node: Node | None, at: int) -> list[Node]:
    """The kinds of things that the question names, the nearest first."""
    kinds = [n for n in work.nodes if n is not node and n.role == "class" and not n.keys]
    return sorted(kinds, key=lambda n: abs(n.start - at))


def _number_called(work: Work, owner: Node, word: str) -> str:
    """The number of these things whose name begins with a word, "" where none or several do."""
    found = [
        predicate.iri
        for predicate in work.schema.predicates
        if predicate_words(predicate.iri, work.schema).casefold().startswith(f"{word} ")
        and _is_number_of(work, owner, predicate.iri)
    ]
    return found[0] if len(found) == 1 else ""


def _is_number_of(work: Work, owner: Node, predicate: str) -> bool:
    if work.schema.predicate_of[predicate].minimum is None:
        return False
    return any(not way.steps for way in work.graph.access(owner.relations, predicate))
