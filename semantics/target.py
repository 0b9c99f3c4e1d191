"""What is asked for: form + picks -> a property, a thing, or how many."""

from collections import Counter

from semantics.candidates import Candidate
from semantics.english import Measure, function_words
from semantics.question_words import dated, implied, measured, place, when
from semantics.who import owners, who
from semantics.work import Node, Target, Work


def target(work: Work) -> Target | None:
    """The first thing or property after the question word that can be asked for."""
    form = work.form
    if form.asked == "degree" and form.degree and work.nodes:
        return measured(work, form.degree)
    if form.asked == "where":
        return place(work)
    if work.scope is not None and work.supers and not any(n.role == "class" for n in work.nodes):
        return Target(node=work.scope)
    if _asks_name(work):
        return Target(node=work.nodes[0])
    if form.asked == "who" and not _class_after_be(work):
        return who(work)
    if form.asked == "when" and (said := when(work)) is not None:
        return said
    things, picks = work.nodes, [*work.attributes, *work.links]
    items: list[Candidate | Node] = [*things, *picks]
    items = sorted(items, key=lambda i: (i.start, isinstance(i, Candidate)))
    items = [i for i in items if i.start >= form.focus] or items
    if not items:
        return None
    first = items[0]
    if isinstance(first, Node) and (beside := work.beside_class(first)) is not None:
        first = beside
    if isinstance(first, Candidate) and (other := dated(work, first)) is not None:
        first = other
    if isinstance(first, Node) and _kind_named(work, first):
        return _members(work, first)
    described = next((n for n in things if n.role == "class" and _describes(work, n)), None)
    if described is not None:
        first = described
    led = _compound(work, first)
    if led is not None:
        return Target(form.asked == "count", node=led)
    if isinstance(first, Node) and _head(work, first) is None:
        return who(work)
    said = implied(work, first)
    if said is not None:
        return said
    measures = [s.measure for s in work.supers if s.measure]
    own = [a for a in work.attributes if not _asked_besides(work, a)]
    if _named(first) and not own and any(not _measurable(work, first, m) for m in measures):
        # "the cheapest <material>": of the things that have it
        return who(work)
    if isinstance(first, Candidate) and form.asked == "fragment" and not things and _half_said(work, first):
        return owners(work, first)
    if described is None and (form.asked in ("fragment", "list", "amount") or _named(first)):
        first = _wanted(work, first, items) or first
    if isinstance(first, Candidate) and work.is_literal(first.predicate) and work.bounded(first):
        return owners(work, first)
    if isinstance(first, Candidate) and work.is_literal(first.predicate):
        if not _orders_things(work, first):
            numeric = work.schema.predicate_of[first.predicate].minimum is not None
            return None if form.asked == "count" and not numeric else Target(pick=first)
    elif isinstance(first, Candidate) and (subject := _subject(work, first)) is not None:
        return Target(form.asked == "count", node=subject)
    elif isinstance(first, Candidate) and not any(
        n.role == "class" and form.focus <= n.start < first.start for n in work.nodes
    ):
        led_to = work.link_node(first)
        if led_to is not None:
            return Target(form.asked == "count", node=led_to)
    node = first if isinstance(first, Node) else next((i for i in items if isinstance(i, Node)), None)
    head = _head(work, node) if node is not None else None
    if node is not None and head is None:
        return who(work)
    return Target(form.asked == "count", node=head) if head is not None else None


def _asked_besides(work: Work, pick: Candidate) -> bool:
    """ "..., and its price": asked for besides the thing."""
    before = work.words[max(0, pick.start - 2) : pick.start]
    return before in (["and", "its"], ["and", "their"])


def _asks_name(work: Work) -> bool:
    """ "What is <code> called": the thing itself, by its name."""
    return bool(work.words) and work.words[-1] in ("called", "named") and len(work.nodes) == 1 and not work.picks[1:]


def _class_after_be(work: Work) -> bool:
    """ "Who are the players at X": the class is said."""
    at = work.form.focus
    be = at < len(work.words) and work.words[at] in ("is", "are", "was", "were")
    near = [n for n in work.nodes if n.role == "class" and n.start <= at + (4 if be else 1)]
    return bool(near)


def _compound(work: Work, first: Candidate | Node) -> Node | None:
    """ "The state capital", "project members": a class before a link asks for what the link leads to."""
    if not isinstance(first, Node) or first.role != "class" or first.keys:
        return None
    pick = next((p for p in work.links if p.start == first.end and p.exact), None)
    if pick is None or not first.relations & {end.subject for end in work.graph.ends[pick.predicate]}:
        return None
    after = work.words[pick.end] if pick.end < len(work.words) else ""
    verb = any(n.start >= pick.end and n.start - pick.end <= 2 for n in work.nodes) and after not in (
        "of",
        "in",
        "with",
    )
    return None if verb else work.link_node(pick)


def _subject(work: Work, pick: Candidate) -> Node | None:
    """ "What hangs in X": the things that the link starts from, where what follows the verb is its end."""
    following = next((n for n in work.nodes if n.start >= pick.end and n.keys), None)
    ends = work.graph.ends[pick.predicate]
    subjects, objects = frozenset(e.subject for e in ends), {e.object for e in ends}
    if following is None or work.noun_link(pick) or not following.relations & objects or following.relations & subjects:
        return None
    at = work.form.focus
    node = Node(work.fresh(min(subjects)), at - 1, at, "class", subjects, *work.type_of(subjects))
    work.nodes.insert(0, node)
    return node


def _members(work: Work, kind: Node) -> Target | None:
    """The things that a thing which names their kind is said of: those of the link that most have."""
    said: Counter[str] = Counter()
    for relation in kind.relations:
        for step in work.graph.steps[relation]:
            if not step.forward:
                said[step.predicate] += step.triples
    if not said:
        return None
    best = max(said, key=lambda p: (said[p], p))
    relations = frozenset(e.subject for e in work.graph.ends[best] if e.object in kind.relations)
    node = Node(work.fresh("member"), kind.start - 1, kind.start, "class", relations, *work.type_of(relations))
    work.nodes.insert(0, node)
    return Target(work.form.asked == "count", node=node)


def _kind_named(work: Work, item: Node) -> bool:
    """ "Which tents are there", where tents are a thing (a category): the things that belong to it are asked for."""
    if item.role != "entity" or item.start != work.form.focus or len(item.keys) != 1:
        return False
    last = work.tokens[item.end - 1]
    plural = last.norm != last.lemma and last.norm.endswith("s")
    return work.form.asked in ("which", "count", "list") and plural and not work.picks[1:]


def _describes(work: Work, node: Node) -> bool:
    """ "The best selling <kind>", "highest paid <kind>": a ranked property right before a class ranks its things."""
    return any(p.end == node.start and s.end == p.start for p in work.attributes for s in work.supers)


def _half_said(work: Work, pick: Candidate) -> bool:
    """ "Shortest runway": the adjective says the rest of the property's name, so the things are asked for."""
    marker = next((s for s in work.supers if s.end == pick.start and s.measure), None)
    if marker is None or marker.measure is None or pick.exact or not work.is_literal(pick.predicate):
        return False
    said = {work.tokens[i].lemma for i in pick.covered}
    return any((words - said) & set(marker.measure.concepts) for words in work.graph.words[pick.predicate])


def _measurable(work: Work, item: Candidate | Node, measure: Measure) -> bool:
    found = work.measured(item, measure.concepts) if isinstance(item, Node) else None
    return found is not None and not found[1].steps


def _named(item: Candidate | Node) -> bool:
    return isinstance(item, Node) and item.role in ("entity", "scope")


def _wanted(work: Work, first: Candidate | Node, items: list[Candidate | Node]) -> Candidate | None:
    """ "Height of X", "X population", "name the capital of X": a property said anywhere is what is wanted."""
    if isinstance(first, Node) and not _named(first):
        return None
    if isinstance(first, Node) and first.role == "scope" and work.supers and work.form.asked == "which":
        return None
    picks = [i for i in items if isinstance(i, Candidate)]
    literal = next((p for p in picks if work.is_literal(p.predicate) and not work.bounded(p)), None)
    return literal or next((p for p in picks if not work.is_literal(p.predicate)), None)


def _orders_things(work: Work, pick: Candidate) -> bool:
    """ "Which X has the largest P": the property orders the things, unless "the largest P of X" is asked."""
    ordered = any(s.end == pick.start for s in work.supers)
    of = pick.end < len(work.words) and work.words[pick.end] in ("of", "in", "for", "on", "at")
    return ordered and not of and work.form.asked == "which" and any(n.role == "class" for n in work.nodes)


def _head(work: Work, node: Node) -> Node | None:
    """The noun that a named thing stands before: "the X models" asks for models; None where that noun is unknown."""
    if node.role in ("class", "scope") or work.form.asked not in ("which", "count", "list", "fragment", "who"):
        return node
    beside = work.beside_class(node)
    if beside is not None:
        return beside
    if work.form.asked in ("which", "list") and node.end < len(work.tokens):
        following = work.tokens[node.end]
        if (
            following.norm not in function_words()
            and not any(node.end in p.covered for p in work.picks)
            and node.end not in work.used
        ):
            return None
    return node
