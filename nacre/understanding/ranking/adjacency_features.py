"""Features of what stands beside mentions: joined by "and", told to come "from" or go "to", compared or not."""

from collections.abc import Iterator

from nacre.language.base import language
from nacre.records.plan import Combine, Select
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.question.types import INEQUALITIES, Derivation, Link, Question

_DIRECTIONS = (("from", "origin", "goal"), ("reaching", "goal", "origin"))


def adjacency_features(candidate: Candidate, question: Question, graph: SchemaGraph) -> dict[str, float]:
    """Whether mentions that the question joins play one part, and what is beside a mention fits its part."""
    d = candidate.derivation
    parts = [(_part(d, a), _part(d, b)) for a, b in _joined(d, question)]
    fits, turned = _directions(candidate, question, graph)
    # a kind and the link that leads to it are one column
    # what is computed of two readings compares them
    computed = not isinstance(candidate.body, Select | Combine)
    listed = len({t._replace(ref=t.ref._replace(via="")) for t in d.targets}) > 1 and not _lists(question)
    return {
        "joined in one part": float(sum(a == b for a, b in parts)),
        "joined in two parts": float(sum(a != b for a, b in parts)),
        "columns nothing joins": float(listed and not d.group),
        "columns nothing joins in groups": float(listed and bool(d.group)),
        "direction fits": float(fits),
        "direction turned": float(turned),
        "comparisons unanswered": float(max(0, _compared(d, question) - _comparing(d)) if not computed else 0),
        "comparisons without cue": float(max(0, _comparing(d) - _compared(d, question))),
        "properties without a part": float(
            sum(x.kind == "property" and bool(x.refs[0].predicate) and not _part(d, x) for x in d.links)
        ),
    }


def _part(d: Derivation, link: Link) -> str:
    """What a linked property or class is for in a reading; "" for nothing."""
    refs = set(link.refs)
    if refs & {t.ref for t in d.targets}:
        return "target"
    if refs & set(d.group):
        return "group"
    if d.order is not None and d.order.ref in refs:
        return "order"
    ordering = next((x.start for x in d.links if d.order is not None and d.order.ref in x.refs), None)
    if ordering is not None and link.start > ordering and "property in order" in d.trace:
        # "ordered by year and class": what else things are ordered by
        return "order"
    conditions = [*d.conditions, *(inner for c in d.conditions for inner in c.inner)]
    compared = {c.against.ref for c in conditions if c.against} | {c.top.ref for c in conditions if c.top}
    return "condition" if refs & ({c.ref for c in conditions} | compared) else ""


def _joined(d: Derivation, question: Question) -> Iterator[tuple[Link, Link]]:
    """The properties that stand right before and after an "and", with light words in between."""
    named = [x for x in d.links if x.kind == "property" and x.refs[0].predicate]
    for i, token in enumerate(question.tokens):
        if token.norm not in language().words["joining"]:
            continue
        before = max((x for x in named if x.end <= i), key=lambda x: x.end, default=None)
        after = min((x for x in named if x.start > i), key=lambda x: x.start, default=None)
        if before is None or after is None:
            continue
        if all(k in question.stopwords for k in (*range(before.end, i), *range(i + 1, after.start))):
            yield before, after


def _lists(question: Question) -> bool:
    """Whether anything in the question may join two columns."""
    joining = language().words["joining"] | language().words["listing"]
    joined = any(t.norm in joining for t in question.tokens) or any(c.kind == "group" for c in question.cues)
    return joined or question.wants_measure or "," in question.text


def _directions(candidate: Candidate, question: Question, graph: SchemaGraph) -> tuple[int, int]:
    """How many values after "from" and "to" are of properties called so, and how many of those called the opposite."""
    fits = turned = 0
    words = language().words
    for link in candidate.derivation.links:
        if link.kind not in ("value", "entity") or not link.start:
            continue
        said = question.tokens[link.start - 1].norm
        for before, own, opposite in _DIRECTIONS:
            if said in words[before]:
                called = _called(candidate, link, graph)
                fits += bool(called & words[own])
                turned += bool(called & words[opposite])
    return fits, turned


def _called(candidate: Candidate, link: Link, graph: SchemaGraph) -> set[str]:
    """The words of the property that a value is of, or of the links that tie a named thing to others."""
    if link.refs[0].predicate:
        return set(graph.words[link.refs[0].predicate])
    body = candidate.body
    selects = [body.left, body.right] if isinstance(body, Combine) else [body]
    return {
        word
        for select in selects
        if isinstance(select, Select)
        for variable in select.variables
        if variable.keys == link.keys
        for edge in select.edges
        if variable.name in (edge.subject, edge.object)
        for word in graph.words[edge.predicate]
    }


def _compared(d: Derivation, question: Question) -> int:
    """How often the question compares with a number, a date or an amount."""
    spans = [(n.start, n.end) for n in question.numbers if n.op in INEQUALITIES]
    ends = sum(n.until is not None for n in question.numbers)
    for cue in question.cues:
        if cue.kind != "comparative" and (cue.kind != "compare" or cue.value not in INEQUALITIES):
            continue
        mask = ((1 << (cue.end - cue.start)) - 1) << cue.start
        named = any(x.covered & mask == mask for x in d.links)
        if not named and not any(s < cue.end and cue.start < e for s, e in spans):
            spans.append((cue.start, cue.end))
    # of a range both ends are compared
    return len(spans) + ends


def _comparing(d: Derivation) -> int:
    """How many conditions of a reading compare; a stretch of days is as good."""
    return sum(c.op in INEQUALITIES or c.op == "within" for c in d.conditions)
