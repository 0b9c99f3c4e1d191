"""Features of neighbours: mentions joined by "and", values after "from" and "to", comparisons."""

from collections.abc import Iterator

from nacre.language.base import language
from nacre.records.plan import Combine, Select
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.coverage import is_inside_link
from nacre.understanding.parsing.state import Candidate
from nacre.understanding.question.types import INEQUALITIES, Derivation, Link, Question

# Word classes of `words.yaml`: the preposition before a value, properties that fit it, properties that contradict it.
_DIRECTIONS = (("from", "origin", "goal"), ("reaching", "goal", "origin"))


def adjacency_features(candidate: Candidate, question: Question, graph: SchemaGraph) -> dict[str, float]:
    """Whether joined mentions play the same part in the reading, and whether the words next to a mention fit its
    part."""
    d = candidate.derivation
    parts = [(_part(d, first), _part(d, second)) for first, second in _joined_properties(d, question)]
    fitting, reversed_ = _count_directions(candidate, question, graph)
    # A class and the link that leads to it are one column.
    columns = {t._replace(ref=t.ref._replace(via="")) for t in d.targets}
    is_unjoined = len(columns) > 1 and not _may_join_columns(question)
    missing = _count_comparisons(d, question) - _count_comparing_conditions(d)
    # A plan computed from two selects compares these.
    is_computed = not isinstance(candidate.body, Select | Combine)
    return {
        "joined in one part": float(sum(a == b for a, b in parts)),
        "joined in two parts": float(sum(a != b for a, b in parts)),
        "columns nothing joins": float(is_unjoined and not d.group),
        "columns nothing joins in groups": float(is_unjoined and bool(d.group)),
        "direction fits": float(fitting),
        "direction turned": float(reversed_),
        "comparisons unanswered": float(0 if is_computed else max(0, missing)),
        "comparisons without cue": float(max(0, -missing)),
        "properties without a part": float(
            sum(x.kind == "property" and bool(x.refs[0].predicate) and not _part(d, x) for x in d.links)
        ),
    }


def _part(d: Derivation, link: Link) -> str:
    """What a reading uses a linked property or class for, or ""."""
    refs = set(link.refs)
    if refs & {t.ref for t in d.targets}:
        return "target"
    if refs & set(d.group):
        return "group"
    if d.order is not None and d.order.ref in refs:
        return "order"
    ordering = next((x.start for x in d.links if d.order is not None and d.order.ref in x.refs), None)
    if ordering is not None and link.start > ordering and "property in order" in d.trace:
        # The second property of "ordered by year and class".
        return "order"
    conditions = [*d.conditions, *(inner for c in d.conditions for inner in c.inner)]
    compared = {c.against.ref for c in conditions if c.against} | {c.top.ref for c in conditions if c.top}
    return "condition" if refs & ({c.ref for c in conditions} | compared) else ""


def _joined_properties(d: Derivation, question: Question) -> Iterator[tuple[Link, Link]]:
    """The properties right before and after an "and", with only function words in between."""
    properties = [x for x in d.links if x.kind == "property" and x.refs[0].predicate]
    for i, token in enumerate(question.tokens):
        if token.norm not in language().words["joining"]:
            continue
        before = max((x for x in properties if x.end <= i), key=lambda x: x.end, default=None)
        after = min((x for x in properties if x.start > i), key=lambda x: x.start, default=None)
        if before is None or after is None:
            continue
        if all(k in question.stopwords for k in (*range(before.end, i), *range(i + 1, after.start))):
            yield before, after


def _may_join_columns(question: Question) -> bool:
    """Whether anything in the question may ask for two columns."""
    joining = language().words["joining"] | language().words["listing"]
    is_joined = any(t.norm in joining for t in question.tokens) or any(c.kind == "group" for c in question.cues)
    return is_joined or question.wants_measure or "," in question.text


def _count_directions(candidate: Candidate, question: Question, graph: SchemaGraph) -> tuple[int, int]:
    """How many values after "from" and "to" belong to properties that fit, and how many to opposite ones."""
    fitting = reversed_ = 0
    words = language().words
    for link in candidate.derivation.links:
        if link.kind not in ("value", "entity") or not link.start:
            continue
        before = question.tokens[link.start - 1].norm
        for prepositions, own, opposite in _DIRECTIONS:
            if before in words[prepositions]:
                label = _property_words(candidate, link, graph)
                fitting += bool(label & words[own])
                reversed_ += bool(label & words[opposite])
    return fitting, reversed_


def _property_words(candidate: Candidate, link: Link, graph: SchemaGraph) -> frozenset[str]:
    """The words of the property of a value, or of the predicates that link a named thing in the plan."""
    if link.refs[0].predicate:
        return frozenset(graph.words[link.refs[0].predicate])
    body = candidate.body
    selects = [body.left, body.right] if isinstance(body, Combine) else [body]
    return frozenset(
        word
        for select in selects
        if isinstance(select, Select)
        for variable in select.variables
        if variable.keys == link.keys
        for edge in select.edges
        if variable.name in (edge.subject, edge.object)
        for word in graph.words[edge.predicate]
    )


def _count_comparisons(d: Derivation, question: Question) -> int:
    """How often the question compares with a number, a date or an amount."""
    spans = [(n.start, n.end) for n in question.numbers if n.op in INEQUALITIES]
    range_ends = sum(n.until is not None for n in question.numbers)
    for cue in question.cues:
        if cue.kind != "comparative" and (cue.kind != "compare" or cue.value not in INEQUALITIES):
            continue
        is_counted = any(start < cue.end and cue.start < end for start, end in spans)
        if not is_counted and not is_inside_link(cue.start, cue.end, d.links):
            spans.append((cue.start, cue.end))
    # Both ends of a range are compared.
    return len(spans) + range_ends


def _count_comparing_conditions(d: Derivation) -> int:
    """How many conditions compare. A period counts as well."""
    return sum(c.op in INEQUALITIES or c.op == "within" for c in d.conditions)
