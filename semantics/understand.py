"""Understand one standalone question over one graph: Rewrite -> Understanding."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from urllib.parse import unquote

from records.plan import Aggregate, Ask, Body, Combine, Compute, Itself, Overview, Plan, Profile, Select, Variable
from records.schema import Schema
from records.turn import Expected, Mention, Reading, Rewrite, Scope, Understanding
from semantics.candidates import Candidate
from semantics.compose import compose
from semantics.courtesy import is_greeting, without_courtesy
from semantics.in_context import Properties
from semantics.linker import Linker
from semantics.markers import Form, form
from semantics.paths import SchemaGraph
from semantics.plausible import plausible
from semantics.segment import Segmentation, segmentations
from semantics.to_words import to_words
from semantics.unknown import holes, unknown
from semantics.words import Token, tokens
from semantics.work import Draft, Node, Work
from stores.lexicon import Lexicon

BEST = 6
NAME = 0.9
_LIST_OF_SCOPE = re.compile(r" \((?:of )?[^()]*\)")
# about the graph itself, not about anything in it
_WHOLE = re.compile(
    r"\b(?:this|the|your|our) (?:knowledge )?(?:graph|data|dataset|database|knowledge base)\b(?!\s+\w+\s+of)"
    r"|\bwhat (?:can|could) (?:i|you|we) (?:ask|answer|tell)\b|\bwhat do you know\b(?!\s+(?:about|of|on)\b)"
    r"|\b(?:which|what) (?:classes|kinds of things)\b"
)
_PRONOUNS = frozenset(
    "two three both it its they them their those these that this one ones he she him her his hers".split()
)


@lru_cache(maxsize=8)
def indexes(lexicon: Lexicon) -> tuple[Linker, SchemaGraph, Properties | None]:
    """The indexes that understanding needs over one lexicon, built once; no likeness in context without an embedder."""
    linker = Linker(lexicon)
    graph = SchemaGraph(linker)
    return linker, graph, Properties(graph, lexicon.embedder) if lexicon.embedder is not None else None


def understand(rewrite: Rewrite, schema: Schema, lexicon: Lexicon) -> Understanding:
    """The mentions, the best plans (best first) and the expected kind of answer of a standalone question."""
    if rewrite.chosen is not None and (expected := _expected_of(rewrite.chosen, schema)) is not None:
        return Understanding(rewrite.standalone, (), (replace(rewrite.chosen, covered=1.0),), expected)
    linker, graph, properties = indexes(lexicon)
    # the list after a plural pronoun is for people; the scope says it better
    question = _LIST_OF_SCOPE.sub("", rewrite.standalone) if rewrite.scope else rewrite.standalone
    as_written = without_courtesy(question)
    # word for word, so that places in the one are places in the other
    question, written = linker.spelling.corrected(as_written), tokens(as_written)
    words = tokens(question)
    shape = form(question, words)
    candidates = plausible(_in_scope(linker.link(words), rewrite.scope), words, shape, schema)
    content = {i for i, t in enumerate(words) if t.norm not in linker.light}
    explained = {i for c in candidates if c.score >= 0.55 for i in c.covered} | shape.taken
    near = linker.near(words, sorted(content - explained))
    explained |= {i for c in near for i in c.covered}
    candidates += near
    if properties is not None and content - explained:
        named = _named(words, candidates, linker)
        candidates += properties.in_context(words, shape, sorted(content - explained), named)
    scope = _scope_node(rewrite.scope, words, linker) if rewrite.scope and len(rewrite.scope.keys) > 1 else None
    # words of a whole name: a reading that leaves one out is about something else
    named_words = {c.covered & content for c in candidates if c.kind == "entity" and c.exact and c.score >= NAME}
    found: dict[Body, tuple[float, float]] = {}
    best_picks: Sequence[Candidate] = ()
    open_: set[int] = set()
    for segmentation in segmentations(words, candidates, shape.taken, linker.light, shape.fixed):
        trust = {i: min(1.0, pick.score + 0.1) for pick in segmentation.picks for i in pick.covered}
        for draft in _drafts(words, shape, segmentation, graph, scope, linker.common):
            covered = sum(trust.get(i, 1.0) for i in content & draft.covered) / max(1, len(content))
            lost = sum(not name <= draft.covered for name in named_words)
            covered *= 0.5 ** (draft.dropped + lost + len(holes(words, content - draft.covered, linker)))
            score = segmentation.score / max(1, len(content)) + draft.score * 0.25 + 4 * covered
            if draft.body not in found or score > found[draft.body][0]:
                if not found or score > max(s for s, _ in found.values()):
                    best_picks, open_ = segmentation.picks, content - draft.covered
                found[draft.body] = score, covered
    ranked = sorted(found.items(), key=lambda f: -f[1][0])[:BEST]
    readings = [
        Reading(Plan(body), round(score, 4), round(covered, 3), to_words(Plan(body), schema))
        for body, (score, covered) in ranked
    ]
    if is_greeting(rewrite.standalone) or _WHOLE.search(question.casefold()):
        plan = Plan(Overview())
        readings = [Reading(plan, 1.0, 1.0, to_words(plan, schema))]
    elif shape.asked == "prose" or (not readings and (shape.asked == "fragment" or _only_named(candidates, content))):
        profile = _profile(words, shape, candidates, graph, linker, scope)
        if profile is not None:
            readings = [Reading(Plan(profile), 1.0, 1.0, to_words(Plan(profile), schema)), *readings][:BEST]
    return Understanding(
        standalone=rewrite.standalone,
        mentions=tuple(_mention(pick, written, as_written) for pick in best_picks),
        readings=tuple(readings),
        expected=_expected(readings[0].plan.body if readings else None, schema),
        unknown=unknown(words, candidates, shape, linker, bool(readings), open_),
    )


def _drafts(
    words: Sequence[Token],
    shape: Form,
    segmentation: Segmentation,
    graph: SchemaGraph,
    scope: Node | None,
    common: frozenset[str],
) -> Iterator[Draft]:
    """The draft of one segmentation, and those that take another link where the question did not say which."""

    avoided: frozenset[str] = frozenset()
    for turn in range(3):
        copy = replace(scope, children=[]) if scope else None
        work = Work(words, shape, segmentation.picks, graph, copy, common, avoided, turn)
        draft = compose(work)
        if draft is not None:
            yield replace(draft, score=draft.score - (0.6 if turn else 0.0))
        if draft is None or not (work.unsaid or work.choices > turn + 1):
            break
        avoided |= work.unsaid
    for i, pick in enumerate(segmentation.picks):
        if pick.kind != "class" or not 1 < len(pick.relations) <= 3:
            continue
        # a class of several tables: what is asked may be known of one of them only
        for group in graph.schema.groups:
            if group.relation in pick.relations:
                narrow = replace(
                    pick, relations=frozenset((group.relation,)), classes=group.classes, without=group.without
                )
                picks = (*segmentation.picks[:i], narrow, *segmentation.picks[i + 1 :])
                copy = replace(scope, children=[]) if scope else None
                draft = compose(Work(words, shape, picks, graph, copy, common))
                if draft is not None:
                    yield replace(draft, score=draft.score - 0.7)


def _in_scope(candidates: list[Candidate], scope: Scope | None) -> list[Candidate]:
    """What the conversation is about settles which of several things of one name is meant."""
    if scope is None or not scope.keys:
        return candidates
    known = set(scope.keys)
    about = {t.norm for label in scope.labels[:1] for t in tokens(label)}
    found = []
    for candidate in candidates:
        if candidate.kind == "entity" and set(candidate.keys) == known:
            found.append(replace(candidate, score=candidate.score + 0.25))
        elif candidate.kind == "entity" and not candidate.exact and 1 < len(candidate.keys) <= 40:
            shared = {k: len(about & {t.norm for t in tokens(unquote(k).rsplit("/", 1)[-1])}) for k in candidate.keys}
            best = max(shared.values())
            near = tuple(k for k in candidate.keys if shared[k] == best)
            if best and len(near) < len(candidate.keys):
                found.append(replace(candidate, keys=near, score=candidate.score + 0.15))
            else:
                found.append(candidate)
        else:
            found.append(candidate)
    return sorted(found, key=lambda c: (-c.score, c.start, -c.end, c.kind, c.label, c.predicate, c.value, c.classes))


def _scope_node(scope: Scope, words: Sequence[Token], linker: Linker) -> Node | None:
    """What a pronoun stands for, as a thing of the question at the pronoun's place."""
    if not scope.keys:
        return None
    at = next((i for i, t in enumerate(words) if t.norm in _PRONOUNS), len(words))
    relations = {n.relation for key in scope.keys for n in linker.lexicon.entities.get(key, ())}
    group = next((g for g in linker.schema.groups if {g.relation} == relations), None)
    classes, without = (group.classes, group.without) if group else ((), ())
    label = scope.labels[0] if len(scope.labels) == 1 else f"({len(scope.keys)} of before)"
    return Node("", at, at + 1, "scope", frozenset(relations), classes, without, scope.keys, label=label)


def _profile(
    words: Sequence[Token],
    shape: Form,
    candidates: Sequence[Candidate],
    graph: SchemaGraph,
    linker: Linker,
    scope: Node | None,
) -> Profile | None:
    """What a prose question is about, one group of things or two that are compared; the other words are its topic."""
    picks = _named(words, candidates, linker)
    subjects: list[list[Candidate]] = []
    for pick in picks:
        gap = range(subjects[-1][-1].end, pick.start) if subjects else range(0)
        if subjects and all(words[i].norm in linker.common for i in gap):
            subjects[-1].append(pick)
        else:
            subjects.append([pick])
    plain = replace(
        shape,
        asked="fragment",
        focus=0,
        superlatives=(),
        comparatives=(),
        bounds=(),
        aggregates=(),
        negations=(),
        degree=None,
    )
    selects: list[Select] = []
    if scope is not None:
        variable = Variable("thing", scope.classes, scope.without, scope.keys, scope.label)
        selects.append(Select((Itself("thing"),), (variable,)))
    used: set[int] = set()
    # a named thing is what is asked about; a class alone only where nothing is named
    subjects = [s for s in subjects if any(c.kind == "entity" for c in s)] or subjects[:1]
    for subject in subjects:
        draft = compose(Work(words, plain, subject, graph, None, linker.common))
        body = draft.body if draft else None
        if isinstance(body, Select) and body.answers[0].kind == "itself" and body not in selects:
            selects.append(body)
            used |= {i for c in subject for i in c.covered}
    if not selects:
        return None
    topic = " ".join(t.norm for i, t in enumerate(words) if t.norm not in linker.light and i not in used)
    # only things of one kind can be compared
    kind = _kind(selects[0])
    against = next((s for s in selects[1:] if _kind(s) == kind), None)
    return Profile(selects[0], against, topic)


def _named(words: Sequence[Token], candidates: Sequence[Candidate], linker: Linker) -> tuple[Candidate, ...]:
    """The things and classes that are surely named, in order of the question."""
    sure = [
        c
        for c in candidates
        if (c.kind == "entity" and (c.exact or c.score >= 0.6)) or (c.kind == "class" and c.score >= 0.7)
    ]
    return segmentations(words, sure, frozenset(), linker.light, frozenset())[0].picks


def _only_named(candidates: Sequence[Candidate], content: set[int]) -> bool:
    """ "What is X": nothing but the thing is said."""
    return bool(content) and any(c.kind == "entity" and c.exact and content <= c.covered for c in candidates)


def _kind(select: Select) -> tuple[tuple[str, ...], tuple[str, ...]]:
    answer = select.answers[0]
    variable = next(v for v in select.variables if isinstance(answer, Itself) and v.name == answer.variable)
    return variable.classes, variable.without


def _mention(pick: Candidate, words: Sequence[Token], question: str) -> Mention:
    start, end = words[pick.start].start, words[pick.end - 1].end
    kind = "predicate" if pick.kind == "flag" else pick.kind
    target = pick.predicate or (pick.keys[0] if len(pick.keys) == 1 else pick.classes[0] if pick.classes else "")
    return Mention(
        question[start:end], start, end, kind, pick.value or target, pick.label, round(pick.score, 3), pick.predicate
    )


def _expected_of(reading: Reading, schema: Schema) -> Expected | None:
    """What a reading that was offered before asks for; None where the graph no longer has what it is about."""
    try:
        to_words(reading.plan, schema)
        return _expected(reading.plan.body, schema)
    except KeyError:
        return None


def _expected(body: Body | None, schema: Schema) -> Expected:
    if body is None:
        return "text"
    if isinstance(body, (Profile, Overview)):
        return "prose"
    if isinstance(body, Ask) or (isinstance(body, Compute) and body.op not in "+-*/"):
        return "boolean"
    if isinstance(body, Compute):
        return "number"
    select = body.left if isinstance(body, Combine) else body
    last = select.answers[-1]
    if isinstance(last, Itself):
        return "entities"
    if isinstance(last, Aggregate):
        return "number"
    predicate = schema.predicate_of[last.predicate]
    return (
        "date" if predicate.datatype in ("date", "datetime") else "number" if predicate.minimum is not None else "text"
    )
