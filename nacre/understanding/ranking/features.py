"""Named features of a reading, which have learned weights: Candidate + Question -> {name: number}.

The names are keys of weights.json. The order of features is the order in which their weighted values are added up.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from nacre.language.data import WORDS, phrase_list
from nacre.language.thesaurus import nouns_of_kind
from nacre.plans.selects import predicates_of
from nacre.records.plan import AGGREGATES, OF_NUMBERS, Aggregate, Ask, Combine, Compute, Select
from nacre.understanding.linking.adjectives import measured_properties
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.parsing.entity_rules import MEMBERS_RULE
from nacre.understanding.parsing.link_constraints import looks_up_own, unnamed_edges
from nacre.understanding.parsing.read_calculations import RATE_RULE, SHARE_RULE
from nacre.understanding.parsing.read_yes_no import is_keywords
from nacre.understanding.parsing.state import Candidate, is_inside_link, unused_tokens
from nacre.understanding.question.records import INEQUALITIES, Derivation, Link, Question, Ref, Target

MAX_COUNTED = 4  # Larger counts say no more.
RATIO_RULES = frozenset((SHARE_RULE, RATE_RULE))  # rules that divide two counts, of which the first is read whole
WEAK = "weak"  # The value of a cue that may have another meaning ("by").


def reading_features(candidate: Candidate, question: Question, graph: SchemaGraph, best: float) -> dict[str, float]:
    """What is known of a reading before it runs. `best` is the highest prior of the question's readings."""
    if RATIO_RULES.intersection(candidate.derivation.trace) and isinstance(candidate.body, Compute):
        # a percentage is as likely as the count of its part, a mean of counts as likely as these
        trace = tuple(rule for rule in candidate.derivation.trace if rule not in RATIO_RULES)
        candidate = candidate._replace(body=candidate.body.left, derivation=candidate.derivation._replace(trace=trace))
    d = candidate.derivation
    return {
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
        **{f"rule {rule}": float(min(times, MAX_COUNTED)) for rule, times in Counter(d.trace).items()},
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
    cues = {f"{c.kind} {WEAK}" if c.value == WEAK else _learned_as(c.kind) for c in outside_names}
    found: dict[str, float] = {}
    for kind, is_done in _operations(d).items():
        if kind in cues and not is_done:
            found[f"cue {kind} unanswered"] = 1.0
        elif is_done and kind not in cues and not kind.endswith(WEAK):
            found[f"{kind} without cue"] = 1.0
        elif is_done:
            found[f"cue {kind} answered"] = 1.0
    return found


def _learned_as(kind: str) -> str:
    """The kind of cue, or the aggregate, whose weights hold for another."""
    return AGGREGATES[kind].weights if kind in AGGREGATES else kind


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
    functions = set(map(_learned_as, functions))
    is_ranked = (d.order is not None and d.order.limit > 0) or bool(tops)
    return {
        **{each: each in functions for each in dict.fromkeys(a.weights for a in AGGREGATES.values())},
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
    counts, nodes = graph.value_counts, graph.nodes
    counted = ((counts.get((ref.node, ref.predicate), 0), nodes[ref.node].count) for ref in refs if ref.predicate)
    shares = [min(1.0, with_value / max(1, count)) for with_value, count in counted]
    found = {"unfilled most": 1 - min(shares, default=1.0)}
    body = candidate.body.left if isinstance(candidate.body, Combine) else candidate.body
    if isinstance(body, Select):
        mentioned = frozenset(x.refs[0].node for x in d.links if x.kind == "class")
        lost = _shares_left_out(body, mentioned, graph)
        found |= {"joins leave out": sum(lost), "joins leave out most": max(lost, default=0.0)}
    return {**found, "date called otherwise": float(_count_qualified_dates(candidate, graph))}


def _shares_left_out(body: Select, mentioned: frozenset[int], graph: SchemaGraph) -> list[float]:
    """For each end of a join whose class is not mentioned: the share of links to other classes."""
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
    """How many unmentioned dates in conditions have a longer name than another date of their things."""
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


def plan_features(candidate: Candidate, question: Question, graph: SchemaGraph) -> dict[str, float]:
    """The shape of the plan. Plans other than a select, or a combination of selects, have one feature: their kind."""
    d, body = candidate.derivation, candidate.body
    select = body.left if isinstance(body, Combine) else body
    if not isinstance(select, Select):
        return {f"body {body.kind}": 1.0}
    aggregates = [a for a in select.answers if isinstance(a, Aggregate)]
    return {
        **_node_features(d),
        "variables": float(len(select.variables)),
        "aggregates": float(len(aggregates)),
        "plain beside aggregate": float(bool(aggregates) and len(aggregates) < len(select.answers)),
        "grouped twice": float(len(d.group) > 1),
        "grouped by value": float(bool(select.by)),
        **_target_features(d, graph),
        "having": float(sum(bool(c.function) for c in d.conditions)),
        "filters": float(len(select.filters)),
        **_order_features([t.ref for t in d.targets], d.links, question),
        **question_word_features(d.targets, question, graph),
    }


def _node_features(d: Derivation) -> dict[str, float]:
    """How many of the nodes the question names, and how many the plan needs only for joins."""
    named = {x.refs[0].node for x in d.links if x.kind == "class"}
    targets = {t.ref.node for t in d.targets}
    used = targets | {c.ref.node for c in d.conditions} | {g.node for g in d.group}
    used |= {d.order.ref.node} if d.order is not None else set()
    return {
        "nodes unsaid": float(len(used - named)),
        "nodes only joined": float(len({n.node for n in d.nodes} - used)),
        "target nodes": float(len(targets)),
        "target node unsaid": float(len(targets - named)),
    }


def _target_features(d: Derivation, graph: SchemaGraph) -> dict[str, float]:
    """Answers that are rarely meant: repeated ones, codes, counts of measures, things without names."""
    refs = {t.ref for t in d.targets}
    equal = {c.ref for c in d.conditions if c.op == "="}
    inequalities = [c.ref.predicate for c in d.conditions if c.op in INEQUALITIES and c.ref.predicate]
    counted = [t.ref for t in d.targets if t.function == "count"]
    added = [t.ref for t in d.targets if t.function in OF_NUMBERS]
    return {
        "same target twice": float(len(d.targets) - len(set(d.targets))),
        "target also condition": float(len({ref for ref in refs if ref.predicate} & equal)),
        "target also order": float(d.order is not None and not d.order.function and d.order.ref in refs),
        "condition on text by number": float(sum(not graph.is_numeric(p) for p in inequalities)),
        "sum or average of code": float(sum(not r.predicate or _is_code(graph, r.predicate) for r in added)),
        "count of value": float(sum(bool(ref.predicate) for ref in counted)),
        "count of measure": float(sum(bool(r.predicate) and _is_measure(graph, r.predicate) for r in counted)),
        "count beside own measure": float(sum(not r.predicate and _has_own_measure(graph, r.node) for r in counted)),
        "nameless target": float(
            sum(not t.ref.predicate and not t.function and not graph.nodes[t.ref.node].named for t in d.targets)
        ),
        "code target": float(sum(bool(t.ref.predicate) and _is_code(graph, t.ref.predicate) for t in d.targets)),
    }


@lru_cache(maxsize=4096)
def _is_code(graph: SchemaGraph, predicate: str) -> bool:
    return graph.about(predicate).role == "identifier"


@lru_cache(maxsize=4096)
def _is_measure(graph: SchemaGraph, predicate: str) -> bool:
    """Whether each thing has one number of it that is not a code."""
    return graph.is_numeric(predicate) and graph.about(predicate).functional and not _is_code(graph, predicate)


@lru_cache(maxsize=4096)
def _has_own_measure(graph: SchemaGraph, node: int) -> bool:
    """Whether things have a number with the name of their class: the "enrolment" of an enrolment."""
    return any(graph.words[p] == graph.nodes[node].words and _is_measure(graph, p) for p in graph.literals[node])


def _order_features(targets: Sequence[Ref], links: tuple[Link, ...], question: Question) -> dict[str, float]:
    """Where the question mentions the answers. In most questions answers come first and conditions last."""
    starts = [x.start for ref in targets for x in links if x.kind in ("class", "property") and x.refs[0] == ref]
    if not starts:
        return {"target unsaid": 1.0}
    classes = {x.start: x.refs[0].node for x in links if x.kind == "class" and x.exact}
    shown = {ref.node for ref in targets if not ref.predicate}
    # In "the high priority tickets" the priority says which tickets are asked for.
    properties = [x for x in links if x.kind == "property"]
    property_ends = [x.end for ref in targets if ref.predicate for x in properties if x.refs[0] == ref]
    # "movie ratings" are ratings.
    class_ends = [x.end for x in links if x.kind == "class" and x.refs[0].node in shown]
    size = max(1, len(question.tokens))
    found = {
        "first target at": min(starts) / size,
        "last target at": max(starts) / size,
        "target before kind": float(sum(end in classes and classes[end] not in shown for end in property_ends)),
        "kind before kind": float(sum(end in classes and classes[end] not in shown for end in class_ends)),
    }
    values = [x.start for x in links if x.kind in ("value", "entity")]
    return {**found, "target after value": float(max(starts) > min(values))} if values else found


MIN_SUFFIX_LETTERS = 5  # Letters of a noun that others may end with, at least: "keeper" in "beekeeper".


def measure_features(candidate: Candidate, question: Question, graph: SchemaGraph) -> dict[str, float]:
    """How far down an adjective's list of measures the property comes that orders or answers."""
    d = candidate.derivation
    ordering = [*((d.order.ref,) if d.order else ()), *(c.top.ref for c in d.conditions if c.top)]
    shown = [t.ref for t in d.targets if t.ref.predicate and not t.function]
    found: dict[str, float] = {}
    for kind, refs in (("superlative", ordering), ("degree", shown)):
        cue = next((c for c in question.cues if c.kind == kind and not is_inside_link(c.start, c.end, d.links)), None)
        if cue is None:
            continue
        concepts = tuple((cue.value.partition(" ")[2] if kind == "superlative" else cue.value).split("|"))
        for ref in refs:
            measures = [r.predicate for r, _, _ in measured_properties(graph, ref.node, concepts)]
            if ref.predicate in measures:
                found[f"{kind} measure place"] = float(measures.index(ref.predicate))
                found[f"{kind} measured"] = 1.0
            elif measures:
                found[f"{kind} measured otherwise"] = 1.0
    return found


def answer_type_features(candidate: Candidate, question: Question, graph: SchemaGraph) -> dict[str, float]:
    """Whether the reading asks for what is named, and its answer is a place for "where", a person for "who"."""
    d = candidate.derivation
    things = {Ref(t.ref.node, "", t.ref.slot) for t in d.targets if not t.function and not t.ref.predicate}
    named = {c.ref for c in d.conditions if c.op == "is" and not c.negated and len(c.keys) == 1}
    found = {"answers what is named": float(bool(things & named))}
    first = question.tokens[0].norm if question.tokens else ""
    ref = d.targets[0].ref
    words = set(graph.words[ref.predicate] if ref.predicate else graph.nodes[ref.node].words)
    words |= set(graph.words[ref.via]) if ref.via else set()
    if first == "where":
        fits = any(_is_noun_of_kind(word, "places") or word in WORDS["latitude"] for word in words)
        return {**found, "asked where fits": float(fits), "asked where misfits": float(not fits)}
    if first == "who":
        fits = any(_is_noun_of_kind(word, "persons") for word in words)
        fits |= not ref.predicate and ref.node in graph.persons
        is_body = any(_is_noun_of_kind(word, "bodies") for word in words)
        return {**found, "asked who fits": float(fits), "asked who misfits": float(not fits and not is_body)}
    return found


def question_word_features(targets: Sequence[Target], question: Question, graph: SchemaGraph) -> dict[str, float]:
    """The question word together with the type of the first answer."""
    words = question.tokens
    first = words[0].norm if words else ""
    second = words[1].norm if len(words) > 1 else ""
    lead = f"{first} {second}" if first == "how" else first
    known = phrase_list("ranking", "question_openings")
    return {f"asked {lead} for {_answer_type(targets[0], graph)}": 1.0} if lead in known else {}


def _answer_type(target: Target, graph: SchemaGraph) -> str:
    predicate = target.ref.predicate
    if target.function in OF_NUMBERS | {"count"}:
        return "number"
    if not predicate:
        return "thing"
    if graph.is_date(predicate):
        return "date"
    return "numeric" if graph.is_numeric(predicate) else "text"


@lru_cache(maxsize=4096)
def _is_noun_of_kind(word: str, kind: str) -> bool:
    """Whether a word is in a list of nouns, or a compound that ends with one."""
    nouns = nouns_of_kind(kind)
    return word in nouns or any(word.endswith(noun) for noun in nouns if len(noun) >= MIN_SUFFIX_LETTERS)


# Word classes of `words.yaml`: the preposition before a value, properties that fit it, properties that contradict it.
_DIRECTIONS = (("from", "origin", "goal"), ("reaching", "goal", "origin"))


def adjacency_features(candidate: Candidate, question: Question, graph: SchemaGraph) -> dict[str, float]:
    """Whether joined mentions play the same part in the reading, and the words next to a mention fit it."""
    d = candidate.derivation
    parts = [(_part(d, first), _part(d, second)) for first, second in _joined_properties(d, question)]
    fitting, reversed_ = _count_directions(candidate, question, graph)
    # A class and the link that leads to it are one column.
    columns = {t._replace(ref=t.ref._replace(via="")) for t in d.targets}
    joining = WORDS["joining"] | WORDS["listing"]
    is_joined = len(columns) < 2 or question.wants_measure or "," in question.text
    is_unjoined = not (is_joined or any(t.norm in joining for t in question.tokens))
    is_unjoined &= all(cue.kind != "group" for cue in question.cues)
    missing = _count_comparisons(d, question) - sum(c.op in INEQUALITIES or c.op == "within" for c in d.conditions)
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
        if token.norm not in WORDS["joining"]:
            continue
        before = max((x for x in properties if x.end <= i), key=lambda x: x.end, default=None)
        after = min((x for x in properties if x.start > i), key=lambda x: x.start, default=None)
        if before is None or after is None:
            continue
        if all(k in question.stopwords for k in (*range(before.end, i), *range(i + 1, after.start))):
            yield before, after


def _count_directions(candidate: Candidate, question: Question, graph: SchemaGraph) -> tuple[int, int]:
    """How many values after "from" and "to" belong to properties that fit, and how many to opposite ones."""
    fitting = reversed_ = 0
    for link in candidate.derivation.links:
        if link.kind not in ("value", "entity") or not link.start:
            continue
        before = question.tokens[link.start - 1].norm
        for prepositions, own, opposite in _DIRECTIONS:
            if before in WORDS[prepositions]:
                label = _property_words(candidate, link, graph)
                fitting += bool(label & WORDS[own])
                reversed_ += bool(label & WORDS[opposite])
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
