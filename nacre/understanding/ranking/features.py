"""Named features of a reading, for weights that are learned: Candidate + Question -> {name: number}."""

from collections import Counter
from functools import lru_cache

from nacre.language.thesaurus import nouns_of_kind
from nacre.records.plan import Aggregate, Combine, Filter, Select
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.linking.schema.adjectives import measured_properties
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.parsing.coverage import unused_tokens
from nacre.understanding.parsing.mention_rules.categories import MEMBERS_RULE
from nacre.understanding.question.types import INEQUALITIES, Link, Question, Ref
from nacre.understanding.ranking.adjacency_features import adjacency_features
from nacre.understanding.ranking.data_features import data_features

# kinds of cues that a plan can answer to, each with what answers it
_CUES = ("count", "avg", "sum", "max", "min", "most", "superlative", "group", "negation", "both", "or", "distinct",
         "contains", "compare", "comparative", "order", "direction", "either", "share", "any")  # fmt: skip
MAX_COUNTED = 4
# the value of a cue that may say something else as well ("by")
WEAK = "weak"
# letters of a word that others may end in
MIN_SUFFIX_LETTERS = 5


def reading_features(candidate: Candidate, question: Question, graph: SchemaGraph, best: float) -> dict[str, float]:
    """What is to be known of a reading before it runs; `best` is the highest prior of the question's readings."""
    d = candidate.derivation
    found: dict[str, float] = {
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
    for rule, times in Counter(d.trace).items():
        found[f"rule {rule}"] = float(min(times, MAX_COUNTED))
    found.update(_coverage(candidate, question))
    found.update(_links(d.links, question))
    found.update(_cues(candidate, question))
    found.update(_shape(candidate, question, graph))
    found.update(_measure(candidate, question, graph))
    found.update(_lead(candidate, question, graph))
    found.update(adjacency_features(candidate, question, graph))
    found.update(data_features(candidate, question, graph))
    return found


def _measure(candidate: Candidate, question: Question, graph: SchemaGraph) -> dict[str, float]:
    """How far down an adjective's list of measures the property stands that things are ordered or shown by."""
    d = candidate.derivation
    shown = [t.ref for t in d.targets if t.ref.predicate and not t.function]
    found: dict[str, float] = {}
    for kind, refs in (
        ("superlative", [*((d.order.ref,) if d.order else ()), *(c.top.ref for c in d.conditions if c.top)]),
        ("degree", shown),
    ):
        cue = next((c for c in question.cues if c.kind == kind and not _inside(c.start, c.end, d.links)), None)
        if cue is None:
            continue
        concepts = tuple((cue.value.partition(" ")[2] if kind == "superlative" else cue.value).split("|"))
        for ref in refs:
            known = [r.predicate for r, _, _ in measured_properties(graph, ref.node, concepts)]
            if ref.predicate in known:
                found[f"{kind} measure place"] = float(known.index(ref.predicate))
                found[f"{kind} measured"] = 1.0
            elif known:
                found[f"{kind} measured otherwise"] = 1.0
    return found


def _lead(candidate: Candidate, question: Question, graph: SchemaGraph) -> dict[str, float]:
    """Whether what is asked for is named anyway, and fits the first word: "where ...", "who ..."."""
    d = candidate.derivation
    found: dict[str, float] = {}
    things = {Ref(t.ref.node, "", t.ref.slot) for t in d.targets if not t.function and not t.ref.predicate}
    named = {c.ref for c in d.conditions if c.op == "is" and not c.negated and len(c.keys) == 1}
    found["answers what is named"] = float(bool(things & named))
    first = question.tokens[0].norm if question.tokens else ""
    ref = d.targets[0].ref if d.targets else None
    if ref is not None:
        words = set(graph.words[ref.predicate] if ref.predicate else graph.nodes[ref.node].words)
        words |= set(graph.words[ref.via]) if ref.via else set()
        for asking, kind in (("where", "places"), ("who", "persons")):
            if first == asking:
                fits = any(_is_of(word, kind) for word in words)
                fits |= asking == "who" and not ref.predicate and ref.node in graph.persons
                found[f"asked {asking} fits"] = float(fits)
                other = asking == "who" and any(_is_of(word, "bodies") for word in words)
                found[f"asked {asking} misfits"] = float(not fits and not other)
    return found


@lru_cache(maxsize=4096)
def _is_of(word: str, kind: str) -> bool:
    """Whether a word is one of a list of nouns, or a compound that ends in one: "beekeeper" in "keeper"."""
    nouns = nouns_of_kind(kind)
    return word in nouns or any(word.endswith(end) for end in nouns if len(end) >= MIN_SUFFIX_LETTERS)


def _coverage(candidate: Candidate, question: Question) -> dict[str, float]:
    open_ = unused_tokens(candidate, question)
    content = [i for i in range(len(question.tokens)) if i not in question.stopwords]
    named = [i for i in open_ if question.tokens[i].text[:1].isupper() and i]
    digits = [i for i in open_ if question.tokens[i].norm[:1].isdigit()]
    quoted = {i for start, end in question.quoted for i in range(start, end)}
    return {
        "unused share": len(open_) / max(1, len(content)),
        "unused": float(min(len(open_), MAX_COUNTED)),
        "unused names": float(min(len(named), MAX_COUNTED)),
        "unused numbers": float(min(len(digits), MAX_COUNTED)),
        "unused quoted": float(min(len(quoted & set(open_)), MAX_COUNTED)),
        "nothing unused": float(not open_),
    }


def _links(links: tuple[Link, ...], question: Question) -> dict[str, float]:
    if not links:
        return {"no links": 1.0}
    found: dict[str, float] = {
        "link mean": sum(x.score for x in links) / len(links),
        "link least": min(x.score for x in links),
        "links": float(len(links)),
    }
    for link in links:
        key = f"link {link.kind} {link.match.removeprefix('link ')}"
        found[key] = found.get(key, 0.0) + 1.0
    overlapping = 0
    seen = 0
    for link in links:
        overlapping += bool(seen & link.covered)
        seen |= link.covered
    found["links overlap"] = float(overlapping)
    # of two names for a stretch the longer one is meant
    return found


def _cues(candidate: Candidate, question: Question) -> dict[str, float]:
    d = candidate.derivation
    apart = [c for c in question.cues if not _inside(c.start, c.end, d.links)]
    said = {f"{c.kind} {WEAK}" if c.value == WEAK else c.kind for c in apart}
    functions = {t.function for t in d.targets if t.function}
    functions |= {c.function for c in d.conditions if c.function}
    functions |= {c.against.function for c in d.conditions if c.against and c.against.function}
    if d.order is not None and d.order.function:
        functions.add(d.order.function)
    tops = [c.top for c in d.conditions if c.top is not None]
    functions |= {top.function for top in tops if top.function}
    ranked = (d.order is not None and d.order.limit > 0) or bool(tops)
    has = {
        **{f: f in functions for f in ("count", "avg", "sum", "max", "min")},
        "most": ranked or bool(functions & {"max", "min"}),
        "superlative": ranked or bool(functions & {"max", "min"}),
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
    found: dict[str, float] = {}
    for kind, present in has.items():
        if kind in said and not present:
            found[f"cue {kind} unanswered"] = 1.0
        elif present and kind not in said and not kind.endswith(WEAK):
            found[f"{kind} without cue"] = 1.0
        elif present:
            found[f"cue {kind} answered"] = 1.0
    return found


def _inside(start: int, end: int, links: tuple[Link, ...]) -> bool:
    mask = ((1 << (end - start)) - 1) << start
    return any(x.covered & mask == mask for x in links)


def _shape(candidate: Candidate, question: Question, graph: SchemaGraph) -> dict[str, float]:
    d = candidate.derivation
    body = candidate.body
    select = body.left if isinstance(body, Combine) else body
    found: dict[str, float] = {}
    if not isinstance(select, Select):
        return {f"body {body.kind}": 1.0}
    said = {x.refs[0].node for x in d.links if x.kind == "class"}
    roots = {t.ref.node for t in d.targets}
    every = {n.node for n in d.nodes}
    used = roots | {c.ref.node for c in d.conditions} | {g.node for g in d.group}
    if d.order is not None:
        used.add(d.order.ref.node)
    found["nodes unsaid"] = float(len(used - said))
    found["nodes only joined"] = float(len(every - used))
    found["target nodes"] = float(len(roots))
    found["target node unsaid"] = float(len(roots - said))
    found["variables"] = float(len(select.variables))
    aggregates = [a for a in select.answers if isinstance(a, Aggregate)]
    found["aggregates"] = float(len(aggregates))
    found["plain beside aggregate"] = float(bool(aggregates) and len(aggregates) < len(select.answers))
    found["grouped twice"] = float(len(d.group) > 1)
    found["grouped by value"] = float(bool(select.by))
    found["same target twice"] = float(len(d.targets) - len(set(d.targets)))
    found["target also condition"] = float(
        len({t.ref for t in d.targets if t.ref.predicate} & {c.ref for c in d.conditions if c.op == "="})
    )
    found["target also order"] = float(
        d.order is not None and not d.order.function and d.order.ref in {t.ref for t in d.targets}
    )
    found["condition on text by number"] = float(
        sum(
            bool(c.ref.predicate) and not graph.is_numeric(c.ref.predicate) and c.op in INEQUALITIES
            for c in d.conditions
        )
    )
    found["sum or average of code"] = float(
        sum(
            t.function in ("avg", "sum") and (not t.ref.predicate or _is_code(graph, t.ref.predicate))
            for t in d.targets
        )
    )
    found["count of value"] = float(sum(t.function == "count" and bool(t.ref.predicate) for t in d.targets))
    counted = [t.ref for t in d.targets if t.function == "count"]
    found["count of measure"] = float(sum(bool(r.predicate) and _is_measure(graph, r.predicate) for r in counted))
    found["count beside own measure"] = float(sum(not r.predicate and _has_own_measure(graph, r.node) for r in counted))
    found["nameless target"] = float(
        sum(not t.ref.predicate and not t.function and not graph.nodes[t.ref.node].named for t in d.targets)
    )
    found["code target"] = float(sum(bool(t.ref.predicate) and _is_code(graph, t.ref.predicate) for t in d.targets))
    found["having"] = float(sum(bool(c.function) for c in d.conditions))
    found["filters"] = float(len([f for f in select.filters if isinstance(f, Filter)]))
    found.update(_order_in_question((d.targets and [t.ref for t in d.targets]) or [], d.links, question))
    found.update(_asked(candidate, question, graph))
    return found


@lru_cache(maxsize=4096)
def _is_code(graph: SchemaGraph, predicate: str) -> bool:
    return graph.about(predicate).role == "identifier"


@lru_cache(maxsize=4096)
def _is_measure(graph: SchemaGraph, predicate: str) -> bool:
    """Whether each thing has one number of it, which is no code."""
    return graph.is_numeric(predicate) and graph.about(predicate).functional and not _is_code(graph, predicate)


@lru_cache(maxsize=4096)
def _has_own_measure(graph: SchemaGraph, node: int) -> bool:
    """Whether things have a number that is called as they are: the "enrolment" of an enrolment."""
    return any(graph.words[p] == graph.nodes[node].words and _is_measure(graph, p) for p in graph.literals[node])


def _order_in_question(targets: list[Ref], links: tuple[Link, ...], question: Question) -> dict[str, float]:
    """Targets come first in most questions, conditions last."""
    starts = [x.start for ref in targets for x in links if x.kind in ("class", "property") and x.refs[0] == ref]
    values = [x.start for x in links if x.kind in ("value", "entity")]
    # "the high priority tickets" asks for tickets, "the priority" of which says which
    kinds = {x.start: x.refs[0].node for x in links if x.kind == "class" and x.exact}
    shown = {ref.node for ref in targets if not ref.predicate}
    ends = [x.end for ref in targets if ref.predicate for x in links if x.kind == "property" and x.refs[0] == ref]
    before = sum(end in kinds and kinds[end] not in shown for end in ends)
    if not starts:
        return {"target unsaid": 1.0}
    n = max(1, len(question.tokens))
    # "movie ratings" are ratings
    heads = [x.end for x in links if x.kind == "class" and x.refs[0].node in shown]
    found = {
        "first target at": min(starts) / n,
        "last target at": max(starts) / n,
        "target before kind": float(before),
        "kind before kind": float(sum(end in kinds and kinds[end] not in shown for end in heads)),
    }
    if values:
        found["target after value"] = float(max(starts) > min(values))
    return found


def _asked(candidate: Candidate, question: Question, graph: SchemaGraph) -> dict[str, float]:
    """Whether the question's first word fits the kind of answer."""
    d = candidate.derivation
    first = question.tokens[0].norm if question.tokens else ""
    second = question.tokens[1].norm if len(question.tokens) > 1 else ""
    target = d.targets[0] if d.targets else None
    if target is None:
        return {}
    ref = target.ref
    kind = (
        "number"
        if target.function in ("count", "avg", "sum")
        else "thing"
        if not ref.predicate
        else "date"
        if graph.is_date(ref.predicate)
        else "numeric"
        if graph.is_numeric(ref.predicate)
        else "text"
    )
    lead = f"{first} {second}" if first == "how" else first
    known = ("how many", "how much", "who", "where", "when", "which", "what", "count", "how long", "how old")
    return {f"asked {lead} for {kind}": 1.0} if lead in known else {}
