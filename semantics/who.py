"""Who is asked for: work -> somebody, or the things that have a property."""

from records.schema import Group
from semantics.candidates import Candidate
from semantics.english import resource
from semantics.words import fold, lemma
from semantics.work import Node, Target, Work

# how English forms the names of those who do something
_AGENTS = ("er", "or", "ist", "ian", "eer", "ant", "man", "woman")
# what is only recorded of people
_HUMAN = frozenset("birth born birthday gender sex surname firstname forename spouse salary hire nationality".split())


def who(work: Work) -> Target | None:
    """Who: a thing of a table about persons, else of the table that links to everything else named."""
    for pick in work.links:
        asked = work.noun_link(pick) or _does(work, pick) or _has(work, pick)
        node = work.link_node(pick) if asked else None
        if node:
            return Target(node=node)
    chosen = next((n for n in work.nodes if n.role == "class" and " or " in n.label), None)
    if chosen is not None and work.supers:
        # "who died first, A or B"
        return Target(node=chosen)
    tables: list[tuple[float, str]] = []
    things: set[str] = set()
    for group in work.schema.groups:
        cost = _thinglike(work, group)
        if work.form.asked == "who" and cost > 1:
            things.add(group.relation)
        relation = frozenset((group.relation,))
        for node in work.nodes:
            ways = work.graph.paths(relation, node.relations)
            cost += ways[0].cost if ways else 5.0
        for marker in work.supers:
            measured = work.graph.measuring(relation, marker.measure.concepts) if marker.measure else []
            cost += 1.6 * measured[0][2] if measured else 2.0 if marker.measure else 0.0
        tables.append((cost, group.relation))
    bounded = next((p for p in work.attributes if work.bounded(p)), None)
    if not work.nodes and bounded is not None:
        # "who joined in 2021"
        return owners(work, bounded)
    if not work.nodes and work.supers and (said := next((p for p in work.attributes), None)) is not None:
        # "who got the biggest <property>"
        return owners(work, said)
    if not tables or not work.nodes:
        return None
    tables.sort()
    work.choices = len(tables)
    cost, best = tables[min(work.turn, len(tables) - 1)]
    # a thing is no answer to "who"
    work.dropped += best in things
    work.cost += 0.5 * (cost - tables[0][0])
    only = frozenset((best,))
    at = work.form.focus
    node = Node(work.fresh(best), at - 1, at, "class", only, *work.type_of(only))
    work.nodes.insert(0, node)
    return Target(node=node)


def owners(work: Work, pick: Candidate) -> Target | None:
    """ "Which objects were made after 1950": the things that have the property, where no known class is said."""
    if any(n.role == "class" for n in work.nodes):
        return Target(work.form.asked == "count", node=next(n for n in work.nodes if n.role == "class"))
    predicate = work.schema.predicate_of[pick.predicate]
    tables = {relation: n for (relation, iri), n in work.graph.facts.items() if iri == pick.predicate}
    if not tables:
        return None
    relations = frozenset(tables)
    classes, without = work.type_of(relations)
    if not classes:
        shared = [c for c in predicate.domains if c and predicate.domains[c] == max(predicate.domains.values())]
        classes = tuple(sorted(shared)[:1])
    at = work.form.focus
    if work.form.asked == "who":
        work.cost += min(_thinglike(work, g) for g in work.schema.groups if g.relation in relations)
    node = Node(work.fresh(max(tables, key=lambda r: (tables[r], r))), at - 1, at, "class", relations, classes, without)
    work.nodes.insert(0, node)
    return Target(work.form.asked == "count", node=node)


def _does(work: Work, pick: Candidate) -> bool:
    """ "Who borrowed X": a link that no thing named has, from what lies between to the one who did it."""
    named = [n for n in work.nodes if n.start >= pick.end]
    ends = work.graph.ends[pick.predicate]
    joined = any(e.subject in n.relations or e.object in n.relations for e in ends for n in named)
    between = any(s.target in n.relations for e in ends for s in work.graph.steps[e.subject] for n in named)
    objects = {e.object for e in ends}
    between = between and all(_thinglike(work, g) <= 1 for g in work.schema.groups if g.relation in objects)
    return work.form.asked == "who" and bool(named) and not joined and between


def _has(work: Work, pick: Candidate) -> bool:
    """ "Who owns X": a link right after the question word, from what follows to somebody."""
    following = next((n for n in work.nodes if 0 <= n.start - pick.end <= 2), None)
    ends = work.graph.ends[pick.predicate]
    if work.form.asked != "who" or pick.start != work.form.focus or following is None:
        return False
    subjects, objects = {e.subject for e in ends}, {e.object for e in ends}
    somebody = all(_thinglike(work, g) <= 1 for g in work.schema.groups if g.relation in objects)
    return bool(following.relations & subjects) and not following.relations & objects and somebody


def _thinglike(work: Work, group: Group) -> float:
    """How unlikely the members of a table are to do things: 0 for persons, 1.2 for what is neither person nor body."""
    names = {lemma(w) for text in (group.label, *group.words) for w in fold(text).split()}
    if names & set(resource()["persons"]):
        return 0.0
    told = {p for (relation, p) in work.graph.facts if relation == group.relation}
    human = any(words & _HUMAN for p in told for words in work.graph.words[p])
    if human:
        return 0.2
    return 0.8 if names & set(resource()["bodies"]) or any(n.endswith(_AGENTS) for n in names) else 1.2
