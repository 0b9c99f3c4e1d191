"""The things that a question names: picks -> nodes, where a class beside an entity of it names one thing."""

from dataclasses import replace

from semantics.work import Node, Work

_LINKING = frozenset(["of", "the", "in", "at", "for", "a", "an", "named", "called", "by", "is", "are", "with"])


def make_nodes(work: Work) -> None:
    """Turn the picks of entities and classes into the nodes of the work."""
    found: list[Node] = []
    for pick in sorted((p for p in work.picks if p.kind in ("entity", "class")), key=lambda p: p.start):
        work.used |= pick.covered
        node = Node(
            "",
            pick.start,
            pick.end,
            pick.kind,
            pick.relations,
            pick.classes,
            pick.without,
            pick.keys,
            label=pick.label,
        )
        last = found[-1] if found else None
        if last and _alternatives(work, last, node):
            keys = tuple(dict.fromkeys((*last.keys, *node.keys)))
            label = f"{last.label} or {node.label}"
            found[-1] = replace(
                last, end=node.end, keys=keys, role="class", label=label, relations=last.relations | node.relations
            )
            if last.relations != node.relations:
                found[-1] = replace(found[-1], classes=(), without=())
            continue
        if last and _glued(work, last, node):
            merged = _merge(work, last, node)
            if merged:
                found[-1] = merged
                continue
        found.append(node)
    chosen = next((n for n in found if n.role == "class" and n.keys and " or " in n.label), None)
    if chosen is not None:
        # "which city is larger, A or B": the class only says what they are
        found = [n for n in found if n is chosen or n.keys or not chosen.relations & n.relations]
    if work.scope is not None:
        found.append(work.scope)
        found.sort(key=lambda n: n.start)
    if not found and work.form.asked in ("which", "count", "list", "fragment"):
        found = _valued(work)
    work.nodes = found
    for node in work.nodes:
        node.name = work.fresh(work.type_label(node))


def _glued(work: Work, a: Node, b: Node) -> bool:
    return all(work.words[i] in _LINKING - {"in", "at", "for", "by", "with"} for i in range(a.end, b.start))


def _merge(work: Work, a: Node, b: Node) -> Node | None:
    """A class beside an entity of it names one thing: "the city of X", "X state"."""
    common = a.relations & b.relations
    if not common or (a.role == "entity" and b.role == "entity"):
        return None
    if a.role == "class" and b.role == "class":
        between = set(work.words[a.end : b.start])
        if a.relations == b.relations:
            # "what state is the state that ..."
            return replace(b, start=a.start) if between & {"is", "are"} else None
        if between:
            return None
        narrow = min((a, b), key=lambda n: sum(work.graph.size.get(r, 1) for r in n.relations))
        return replace(narrow, start=a.start, end=b.end)
    entity = a if a.role == "entity" else b
    # "the X models" asks for them, "the city of X" only says which X is meant
    named = {"called", "named"} & set(work.words[a.end : b.start])
    role = "class" if len(entity.keys) > 1 or named else "entity"
    return replace(entity, start=a.start, end=b.end, role=role)


def _alternatives(work: Work, a: Node, b: Node) -> bool:
    """ "A or B", and "A and B" where one of them is to be chosen."""
    between = work.words[a.end : b.start]
    choice = bool(work.supers) and work.form.asked in ("which", "who", "fragment")
    if not (a.keys and b.keys and len(between) <= 2 and (a.relations == b.relations or choice)):
        return False
    return "or" in between or (choice and (not between or "and" in between))


def _valued(work: Work) -> list[Node]:
    """ "Which novels are there": a value said as a noun stands for the things that have it."""
    for value in work.values:
        owners = [
            (n, relation) for (relation, predicate), n in work.graph.facts.items() if predicate == value.predicate
        ]
        if owners:
            only = frozenset((max(owners)[1],))
            return [Node("", value.start, value.end, "class", only, *work.type_of(only), label=value.label)]
    return []
