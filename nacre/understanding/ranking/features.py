"""Named features of a reading, which have learned weights: Candidate + Question -> {name: number}.

The names are keys of weights.json. The order of features is the order in which their weighted values are added up.
"""

from collections import Counter

from nacre.plans.inspect_select import predicates_of
from nacre.records.plan import Ask, Combine, Select
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.constraints.own_properties import looks_up_own, unnamed_edges
from nacre.understanding.parsing.coverage import is_inside_link, unused_tokens
from nacre.understanding.parsing.mention_rules.categories import MEMBERS_RULE
from nacre.understanding.parsing.readers.keywords import is_keywords
from nacre.understanding.parsing.state import Candidate
from nacre.understanding.question.types import INEQUALITIES, Derivation, Link, Question, Ref
from nacre.understanding.ranking.adjacency_features import adjacency_features
from nacre.understanding.ranking.answer_features import answer_type_features, measure_features
from nacre.understanding.ranking.plan_features import plan_features

# Larger counts say no more.
MAX_COUNTED = 4
# The value of a cue that may have another meaning ("by").
WEAK = "weak"


def reading_features(candidate: Candidate, question: Question, graph: SchemaGraph, best: float) -> dict[str, float]:
    """What is known of a reading before it runs. `best` is the highest prior of the question's readings."""
    d = candidate.derivation
    parse: dict[str, float] = {
        "bias": 1.0,
        "prior": d.prior / max(1, len(question.tokens)),
        "prior below best": best - d.prior,
        "joins": candidate.join_cost,
        "steps": float(candidate.steps),
        "ambiguous": float(min(candidate.ambiguous, MAX_COUNTED)),
        "other way": float(candidate.path_choice > 0),
        "names passed over": candidate.name_loss,
        "names split": float(min(candidate.split_names, MAX_COUNTED)),
        "targets": float(len(d.targets)),
        "conditions": float(len(d.conditions)),
        "nodes": float(len(d.nodes)),
    }
    rules = {f"rule {rule}": float(min(times, MAX_COUNTED)) for rule, times in Counter(d.trace).items()}
    return {
        **parse,
        **rules,
        **_coverage_features(candidate, question),
        **_link_features(d.links),
        **_cue_features(candidate, question),
        **plan_features(candidate, question, graph),
        **measure_features(candidate, question, graph),
        **answer_type_features(candidate, question, graph),
        **adjacency_features(candidate, question, graph),
        **_data_features(candidate, graph),
        **vocabulary_features(candidate, question, graph),
    }


def _coverage_features(candidate: Candidate, question: Question) -> dict[str, float]:
    """How many content words of the question the reading does not use."""
    unused = unused_tokens(candidate, question)
    content = [i for i in range(len(question.tokens)) if i not in question.stopwords]
    names = [i for i in unused if question.tokens[i].text[:1].isupper() and i]
    digits = [i for i in unused if question.tokens[i].norm[:1].isdigit()]
    quoted = {i for start, end in question.quoted for i in range(start, end)}
    return {
        "unused share": len(unused) / max(1, len(content)),
        "unused": float(min(len(unused), MAX_COUNTED)),
        "unused names": float(min(len(names), MAX_COUNTED)),
        "unused numbers": float(min(len(digits), MAX_COUNTED)),
        "unused quoted": float(min(len(quoted & set(unused)), MAX_COUNTED)),
        "nothing unused": float(not unused),
    }


def _link_features(links: tuple[Link, ...]) -> dict[str, float]:
    """How well the words fit what they are linked to."""
    if not links:
        return {"no links": 1.0}
    kinds = Counter(f"link {x.kind} {x.match.removeprefix('link ')}" for x in links)
    overlapping = seen = 0
    for link in links:
        overlapping += bool(seen & link.covered)
        seen |= link.covered
    return {
        "link mean": sum(x.score for x in links) / len(links),
        "link least": min(x.score for x in links),
        "links": float(len(links)),
        **{kind: float(times) for kind, times in kinds.items()},
        "links overlap": float(overlapping),
    }


def _cue_features(candidate: Candidate, question: Question) -> dict[str, float]:
    """For each kind of cue: answered by the plan, unanswered, or done by the plan without a cue."""
    d = candidate.derivation
    outside_names = [c for c in question.cues if not is_inside_link(c.start, c.end, d.links)]
    cues = {f"{c.kind} {WEAK}" if c.value == WEAK else c.kind for c in outside_names}
    found: dict[str, float] = {}
    for kind, is_done in _operations(d).items():
        if kind in cues and not is_done:
            found[f"cue {kind} unanswered"] = 1.0
        elif is_done and kind not in cues and not kind.endswith(WEAK):
            found[f"{kind} without cue"] = 1.0
        elif is_done:
            found[f"cue {kind} answered"] = 1.0
    return found


def _operations(d: Derivation) -> dict[str, bool]:
    """Whether the reading does what a kind of cue asks for."""
    tops = [c.top for c in d.conditions if c.top is not None]
    functions = {
        *(t.function for t in d.targets),
        *(c.function for c in d.conditions),
        *(c.against.function for c in d.conditions if c.against),
        *((d.order.function,) if d.order is not None else ()),
        *(top.function for top in tops),
    } - {""}
    is_ranked = (d.order is not None and d.order.limit > 0) or bool(tops)
    return {
        **{function: function in functions for function in ("count", "avg", "sum", "max", "min")},
        "most": is_ranked or bool(functions & {"max", "min"}),
        "superlative": is_ranked or bool(functions & {"max", "min"}),
        "group": bool(d.group),
        f"group {WEAK}": bool(d.group),
        "negation": any(c.negated or c.op == "unknown" for c in d.conditions) or "flag denied" in d.trace,
        "both": d.combine == "intersection",
        "or": (d.combine == "union" and MEMBERS_RULE not in d.trace)
        or any(len(c.values) > 1 or len(c.keys) > 1 for c in d.conditions),
        "distinct": any(t.distinct for t in d.targets),
        "contains": any(c.op in ("contains", "starts", "ends") for c in d.conditions),
        "compare": any(c.op in INEQUALITIES for c in d.conditions),
        "order": d.order is not None,
    }


def _data_features(candidate: Candidate, graph: SchemaGraph) -> dict[str, float]:
    """How many of the requested values exist, and what share of the joined things lies in unmentioned classes."""
    d = candidate.derivation
    refs = {*(t.ref for t in d.targets), *(c.ref for c in d.conditions), *d.group}
    refs |= {d.order.ref} if d.order is not None else set()
    shares = [_share_with_value(ref, graph) for ref in refs if ref.predicate]
    found = {"unfilled most": 1 - min(shares, default=1.0)}
    body = candidate.body.left if isinstance(candidate.body, Combine) else candidate.body
    if isinstance(body, Select):
        mentioned = frozenset(x.refs[0].node for x in d.links if x.kind == "class")
        lost = _shares_left_out(body, mentioned, graph)
        found |= {"joins leave out": sum(lost), "joins leave out most": max(lost, default=0.0)}
    return {**found, "date called otherwise": float(_count_qualified_dates(candidate, graph))}


def _share_with_value(ref: Ref, graph: SchemaGraph) -> float:
    """The share of a node's things that have a property."""
    count = graph.value_counts.get((ref.node, ref.predicate), 0)
    return min(1.0, count / max(1, graph.nodes[ref.node].count))


def _shares_left_out(body: Select, mentioned: frozenset[int], graph: SchemaGraph) -> list[float]:
    """For each end of a join whose class neither the question nor a name mentions: the share of the links that belong
    to other classes."""
    node = {v.name: graph.node_of_classes.get((v.classes, v.without)) for v in body.variables if v.classes}
    named = {v.name for v in body.variables if v.keys}
    lost = []
    for edge in body.edges:
        source, target = node.get(edge.subject), node.get(edge.object)
        if source is None or target is None:
            continue
        for end, variable, shares in (
            (target, edge.object, graph.forward_share),
            (source, edge.subject, graph.backward_share),
        ):
            if end not in mentioned and variable not in named:
                lost.append(1 - shares.get((edge.predicate, source, target), 1.0))
    return lost


def _count_qualified_dates(candidate: Candidate, graph: SchemaGraph) -> int:
    """How many unmentioned dates in conditions have a longer name than another date: the "delivery date" of an order,
    and not its "date"."""
    d = candidate.derivation
    mentioned = {r.predicate for x in d.links if x.kind == "property" for r in x.refs}
    count = 0
    for condition in d.conditions:
        ref = condition.ref
        if not ref.predicate or ref.predicate in mentioned or not graph.is_date(ref.predicate):
            continue
        own = set(graph.nodes[ref.node].words)
        extra = {p: len(set(graph.words[p]) - own) for p in graph.literals[ref.node] if graph.is_date(p)}
        count += extra.get(ref.predicate, 0) > min(extra.values(), default=0)
    return count


def vocabulary_features(candidate: Candidate, question: Question, graph: SchemaGraph) -> dict[str, float]:
    """How the graph's own words and links bear a reading out.

    A semantic layer gives properties words that people ask with, derives properties from paths, and hides what only
    connects others. Readings that rest on these are right less often than readings in the graph's own terms.
    """
    used = [link for link in candidate.derivation.links if link.kind in ("class", "property")]
    body = candidate.body
    select = body.select if isinstance(body, Ask) else body.left if isinstance(body, Combine) else body
    predicates = predicates_of(select) if isinstance(select, Select) else frozenset[str]()
    about = [graph.about(predicate) for predicate in predicates if predicate in graph.schema.predicate_of]
    hidden = graph.hidden_nodes
    nodes = {node.node for node in candidate.derivation.nodes}
    layered = [link for link in used if _is_layer_word(link, question, graph)]
    return {
        "links unsaid": float(min(len(unnamed_edges(candidate, question, graph)), MAX_COUNTED)),
        "own property": float(looks_up_own(candidate, question, graph)),
        "layer share": graph.layer_share,
        "keywords": float(is_keywords(question)),
        "layer words": len(layered) / max(1, len(used)),
        "layer derived": float(min(sum(bool(each.patterns) for each in about), MAX_COUNTED)),
        "layer hidden": float(min(sum(each.hidden for each in about) + len(nodes & hidden), MAX_COUNTED)),
    }


def _is_layer_word(link: Link, question: Question, graph: SchemaGraph) -> bool:
    """Whether a span has no word of what it names, but words that a layer gives it."""
    ref = link.refs[0]
    predicate = ref.via or ref.predicate
    if not predicate or not graph.phrases[predicate]:
        return False
    said = {question.tokens[i].lemma for i in range(link.start, link.end)}
    return not said & set(graph.words[predicate]) and any(said & set(phrase) for phrase in graph.phrases[predicate])
