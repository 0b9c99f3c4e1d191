"""Understand one standalone question over one graph: Rewrite -> Understanding."""

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from records.plan import Aggregate, Ask, Body, Combine, Compute, Itself, Plan, Profile, Select, Variable
from records.schema import Schema
from records.turn import Expected, Mention, Reading, Rewrite, Scope, Understanding
from semantics.compose import Composer, Draft, Node
from semantics.english import function_words, measure
from semantics.linker import Candidate, Linker
from semantics.markers import Form, form
from semantics.paths import SchemaGraph
from semantics.segment import Segmentation, segmentations
from semantics.to_words import to_words
from semantics.words import Token, tokens
from stores.lexicon import Lexicon

BEST = 6
_PRONOUNS = frozenset("it its they them their those these that this one ones he she him her his hers".split())


@lru_cache(maxsize=8)
def _indexes(lexicon: Lexicon) -> tuple[Linker, SchemaGraph]:
    linker = Linker(lexicon)
    return linker, SchemaGraph(linker)


def understand(rewrite: Rewrite, schema: Schema, lexicon: Lexicon) -> Understanding:
    """The mentions, the best plans (best first) and the expected kind of answer of a standalone question."""
    question = rewrite.standalone
    linker, graph = _indexes(lexicon)
    words = tokens(question)
    shape = form(question, words)
    candidates = linker.link(words)
    content = {i for i, t in enumerate(words) if t.norm not in linker.light}
    scope = _scope_node(rewrite.scope, words, linker) if rewrite.scope else None
    found: dict[Body, tuple[float, float]] = {}
    best_picks: Sequence[Candidate] = ()
    for segmentation in segmentations(words, candidates, shape.taken, linker.light, shape.numeric):
        trust = {i: min(1.0, pick.score + 0.1) for pick in segmentation.picks for i in pick.covered}
        for draft in _drafts(words, shape, segmentation, graph, scope, frozenset(linker.common)):
            covered = sum(trust.get(i, 1.0) for i in content & draft.covered) / max(1, len(content))
            score = segmentation.score / max(1, len(content)) + draft.score * 0.25 + 3 * covered
            if draft.body not in found or score > found[draft.body][0]:
                if not found or score > max(s for s, _ in found.values()):
                    best_picks = segmentation.picks
                found[draft.body] = score, covered
    ranked = sorted(found.items(), key=lambda f: -f[1][0])[:BEST]
    readings = [
        Reading(Plan(body), round(score, 4), round(covered, 3), to_words(Plan(body), schema))
        for body, (score, covered) in ranked
    ]
    if shape.asked == "prose" or not readings:
        profile = _profile(words, candidates, scope)
        if profile is not None:
            readings = [Reading(Plan(profile), 1.0, 1.0, to_words(Plan(profile), schema)), *readings][:BEST]
    return Understanding(
        standalone=question,
        mentions=tuple(_mention(pick, words, question) for pick in best_picks),
        readings=tuple(readings),
        expected=_expected(readings[0].plan.body if readings else None, schema),
        unknown=_unknown(words, candidates, shape, linker),
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

    def composer(avoided: frozenset[str]) -> Composer:
        return Composer(words, shape, segmentation.picks, graph, replace(scope) if scope else None, common, avoided)

    first = composer(frozenset())
    drafts = first.drafts()
    yield from drafts
    avoided: frozenset[str] = frozenset()
    for _ in range(2 if drafts and first.unsaid else 0):
        avoided |= first.unsaid
        other = composer(avoided)
        for draft in other.drafts():
            yield Draft(draft.body, draft.score - 0.6, draft.covered)
        if not other.unsaid:
            break
        first = other


def _scope_node(scope: Scope, words: Sequence[Token], linker: Linker) -> Node | None:
    """What a pronoun stands for, as a thing of the question at the pronoun's place."""
    if not scope.keys:
        return None
    at = next((i for i, t in enumerate(words) if t.norm in _PRONOUNS), len(words))
    relations = {n.relation for key in scope.keys for n in linker.lexicon.entities.get(key, ())}
    group = next((g for g in linker.schema.groups if {g.relation} == relations), None)
    classes, without = (group.classes, group.without) if group else ((), ())
    return Node("", at, at + 1, "scope", frozenset(relations), classes, without, scope.keys)


def _profile(words: Sequence[Token], candidates: Sequence[Candidate], scope: Node | None) -> Profile | None:
    """What a prose question is about: the thing or group named best; the other words are its topic."""
    things = [c for c in candidates if c.kind == "entity" or c.kind == "class" and c.exact]
    topic_words = [t.norm for i, t in enumerate(words) if t.norm not in function_words()]
    if scope is not None:
        variable = Variable("thing", scope.classes, scope.without, scope.keys)
        return Profile(Select((Itself("thing"),), (variable,)), None, " ".join(topic_words))
    if not things:
        return None
    best = max(things, key=lambda c: (c.score * len(c.covered), c.kind == "entity", -len(c.keys), c.label))
    topic = " ".join(t.norm for i, t in enumerate(words) if t.norm not in function_words() and i not in best.covered)
    return Profile(Select((Itself("thing"),), (Variable("thing", best.classes, best.without, best.keys),)), None, topic)


def _mention(pick: Candidate, words: Sequence[Token], question: str) -> Mention:
    start, end = words[pick.start].start, words[pick.end - 1].end
    kind = "predicate" if pick.kind == "flag" else pick.kind
    target = pick.predicate or (pick.keys[0] if len(pick.keys) == 1 else pick.classes[0] if pick.classes else "")
    return Mention(question[start:end], start, end, kind, pick.value or target, pick.label, round(pick.score, 3), pick.predicate)


def _expected(body: Body | None, schema: Schema) -> Expected:
    if body is None:
        return "text"
    if isinstance(body, Profile):
        return "prose"
    if isinstance(body, Ask) or isinstance(body, Compute) and body.op not in "+-*/":
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
    return "date" if predicate.datatype in ("date", "datetime") else "number" if predicate.minimum is not None else "text"


def _unknown(
    words: Sequence[Token], candidates: Sequence[Candidate], shape: Form, linker: Linker
) -> tuple[tuple[str, str], ...]:
    """Content words that name nothing here, each with the nearest name that is known or ""."""
    covered = {i for c in candidates for i in c.covered} | shape.taken
    found = []
    for i, token in enumerate(words):
        if i in covered or token.norm in function_words() or measure(token) or token.norm[0].isdigit():
            continue
        near = difflib.get_close_matches(token.norm, list(linker.entity_tokens), n=1, cutoff=0.75)
        found.append((token.text, near[0] if near else ""))
    return tuple(found)
