"""Understand one standalone question over one graph: Rewrite -> Understanding. `understand` shows the stages."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from nacre.config.embedder import BUNDLED_EMBEDDER
from nacre.extension import service
from nacre.language import quantities
from nacre.language.data import pattern
from nacre.language.small_talk import strip_courtesy
from nacre.language.values import is_ambiguous_date, is_yearless
from nacre.plans.selects import asked_select, edges_at, variable_of
from nacre.records.plan import Overview, Plan, Profile, Select
from nacre.records.schema import Schema
from nacre.records.threads import start_deadline
from nacre.records.turn import EarlierTurn, Reading, Rewrite, Scope, Understanding, VerifiedQuestion
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.dialogue import follow_up
from nacre.understanding.dialogue.plan_edits import inline_earlier_plans
from nacre.understanding.dialogue.references import strip_scope
from nacre.understanding.dialogue.rewrite import orientation_intent
from nacre.understanding.glossing import glossed_lexicon
from nacre.understanding.linking.link_mentions import (
    Linker,
    link_mentions,
    link_misspellings,
    linker_of,
    prepare_question,
)
from nacre.understanding.linking.link_schema import choose_year_columns
from nacre.understanding.mentions import absent_names, alternative_links, link_mention, named_things, unknown_words
from nacre.understanding.parse_question import expected_kind, group_reader, offered_kind, parse_question
from nacre.understanding.parsing.constraints import AnswerTypeMatch, filter_by_answer_type, is_part_name_guess
from nacre.understanding.parsing.derive import MAX_CANDIDATES
from nacre.understanding.parsing.entity_rules import names_month
from nacre.understanding.parsing.profiles import profile_plan
from nacre.understanding.parsing.state import Candidate
from nacre.understanding.parsing.superlative_rules import GUESSED_MEASURE_RULE
from nacre.understanding.question.records import Link, Question, covered_mask, token_mask
from nacre.understanding.ranking.probabilities import MAX_READINGS, best_readings, show_things_beside_values
from nacre.understanding.ranking.rank import (
    RankedReading,
    level_same_names,
    load_weights,
    rank_candidates,
    similarities,
)
from nacre.wording.plan_phrases import verbalise_plan

# Highest probability of a reading that guesses: what a pronoun stands for, part of a name, what an adjective measures,
# or day and month of a date (given).
MAX_GUESS_PROBABILITY = 0.5

UNDERSTANDING_SECONDS = 1.2  # Processor time for reading one question.


def understand(
    rewrite: Rewrite,
    schema: Schema,
    lexicon: Lexicon,
    most: int = MAX_CANDIDATES,
    verified: Sequence[VerifiedQuestion] = (),
) -> Understanding:
    """The mentions, the best readings (best first) and the expected kind of answer of a standalone question. Ranks
    `most` candidates at most. `verified` are the verified questions to compare it with."""
    if rewrite.chosen is not None and (expected := offered_kind(rewrite.chosen, schema)) is not None:
        return Understanding(rewrite.standalone, (), (_chosen(rewrite.chosen, rewrite.gloss, schema),), expected)
    linker = linker_of(glossed_lexicon(lexicon, rewrite.gloss) if rewrite.gloss else lexicon)
    graph = linker.index.graph
    text = question_text(rewrite)
    if wanted := rewrite.orientation or ("" if rewrite.depends or rewrite.aside else orientation_intent(text, linker)):
        overview = _certain_reading(Overview(wanted=wanted), schema)
        return Understanding(rewrite.standalone, (), (overview,), "prose", orientation=wanted)
    if rewrite.aside:
        return Understanding(rewrite.standalone, (), (_certain_reading(Overview(), schema),), "prose")
    question, links = _linked_question(text, rewrite.scope, linker)
    # Starts after the units are loaded, which happens once a process: the first question has as much time as others.
    deadline = start_deadline(UNDERSTANDING_SECONDS)
    match = filter_by_answer_type(parse_question(question, links, linker, deadline, most), question, graph)
    candidates = answering_candidates(match, question, rewrite.scope, linker)[:most]
    cut = deadline.is_over()
    scored = rank_candidates(candidates, question, graph, load_weights(), _similarity(question, linker))
    ranked, readings = best_readings(scored, question, links, graph, schema)
    revised = follow_up.revised_readings(ranked, links, question, rewrite.scope, linker, schema)
    if rewrite.scope is not None and rewrite.scope.how == "number":
        # All other readings contain the number that only stands in for the earlier answer.
        readings = revised
    merged = follow_up.merge_readings(revised, readings, MAX_READINGS)
    # all things of the turn that is referred to, and for a chart those that its numbers are of
    whole = (_of_all_things(each, rewrite.scope, schema) for each in merged)
    readings = tuple(_with_things(each, schema) if rewrite.display == "chart" else each for each in whole)
    group = group_reader(linker, deadline)
    profile = None if revised else profile_plan(question, links, linker.index, rewrite.scope, group)
    if profile is not None:
        readings = (_certain_reading(profile, schema), *readings)[:MAX_READINGS]
    best = ranked[0] if ranked else None
    used = best.candidate.derivation.links if best else [x for x in links if x.exact]
    written = strip_courtesy(text)
    unknown = () if profile is not None or revised else unknown_words(best, question, links, linker, rewrite.gloss)
    understanding = Understanding(
        standalone=rewrite.standalone,
        mentions=tuple(link_mention(x, question, written) for x in used),
        readings=readings,
        expected=expected_kind(readings[0].plan.body if readings else None, schema),
        unknown=unknown,
        candidates=tuple(link_mention(x, question, written) for x in alternative_links(used, links)),
        considered=len(ranked),
        cut=cut,
        most=_highest_probability(rewrite, text, ranked, question, linker),
        unstated=(match.asked, verbalise_plan(Plan(match.nearest.body), schema)) if match.nearest else None,
        named=named_things(links, question, written, linker),
        absent=absent_names(unknown, question, linker.lexicon),
    )
    if rewrite.is_unread:
        # other words of a language that is not read mean something else in English
        return Understanding(
            rewrite.standalone, understanding.mentions, candidates=understanding.candidates, named=understanding.named
        )
    if verified and not rewrite.scope:
        understanding = service("verified", "apply")(understanding, verified, text, question, links, linker)
    return understanding


def _chosen(reading: Reading, gloss: str, schema: Schema) -> Reading:
    """A reading that was offered as one of this question. Its words in another language are those of no evidence."""
    words = verbalise_plan(reading.plan, schema) if gloss else reading.words
    return replace(reading, covered=1.0, words=words, unused=())


def _linked_question(text: str, scope: Scope | None, linker: Linker) -> tuple[Question, list[Link]]:
    """The question, and what its spans may name."""
    question = prepare_question(text, linker)
    if any(number.unit for number in question.numbers):
        quantities.unit_registry()
    links, graph = scoped_links(question, scope, linker), linker.index.graph
    if any(is_yearless(number.date_start) for number in question.numbers):
        # months that are values of a property are no dates
        months = covered_mask(x for x in links if x.kind == "value" and names_month(x, graph))
        dates = (n for n in question.numbers if not (is_yearless(n.date_start) and months & token_mask(n.start, n.end)))
        question = question._replace(numbers=tuple(dates))
    return choose_year_columns(question, links, graph)


def _with_things(reading: Reading, schema: Schema) -> Reading:
    """The reading with the things beside their values: a chart has a mark for each, and not for different values."""
    plan = Plan(show_things_beside_values(reading.plan.body, always=True))
    return reading if plan == reading.plan else replace(reading, plan=plan, words=verbalise_plan(plan, schema))


def _of_all_things(reading: Reading, scope: Scope | None, schema: Schema) -> Reading:
    """The reading about all things of an earlier plan, in place of the first of them; unlikely if there is none."""
    if scope is None or not scope.cut or scope.how:
        return reading
    body, turn = reading.plan.body, EarlierTurn("", "", "", scope.plan, scope.keys)
    if not isinstance(body, Select) or (whole := inline_earlier_plans(body, (turn,))) == body:
        probability = min(reading.probability or 0.0, MAX_GUESS_PROBABILITY)
        return replace(reading, probability=probability, said=None)
    plan = replace(reading.plan, body=whole)
    return replace(reading, plan=plan, words=verbalise_plan(plan, schema))


def question_text(rewrite: Rewrite) -> str:
    """The text to parse, without lists of things and words that the scope states better."""
    text = strip_scope(rewrite.standalone, rewrite.scope)
    how = rewrite.scope.how if rewrite.scope is not None else ""
    if how == "number":
        return follow_up.insert_stand_in(text)
    # a question that excludes things asks for them
    found = pattern("dialogue", "exclude").search(text.casefold()) if how == "exclude" else None
    return text[: found.start("lead")] + text[found.end("lead") :] if found else text


def scoped_links(question: Question, scope: Scope | None, linker: Linker) -> list[Link]:
    """What spans of the question may name, given what the conversation is about."""
    links = link_mentions(question, linker.index)
    links = [*links, *link_misspellings(question, links, linker.index, linker.spelling)]
    return follow_up.scope_links(links, scope, question, linker.index)


def answering_candidates(
    match: AnswerTypeMatch, question: Question, scope: Scope | None, linker: Linker
) -> list[Candidate]:
    """The candidates of the requested type about the things of the conversation (but for those given), else all."""
    found = follow_up.scope_candidates(match.kept if match.nearest is None else [], question)
    besides = scope.besides if scope is not None else ()
    return [follow_up.exclude_given(each, besides, linker.index) for each in found] if besides else found


def _certain_reading(body: Overview | Profile, schema: Schema) -> Reading:
    plan = Plan(body)
    return Reading(plan, 1.0, 1.0, verbalise_plan(plan, schema), 1.0)


def _similarity(question: Question, linker: Linker) -> Callable[[Sequence[Candidate]], list[float]] | None:
    """Compares readings in words with the question. None without the embedder that its weight was learned with."""
    embedder, schema = linker.lexicon.embedder, linker.lexicon.schema
    if embedder is None or embedder.name != BUNDLED_EMBEDDER:
        return None

    def compare(candidates: Sequence[Candidate]) -> list[float]:
        texts = [verbalise_plan(Plan(c.body), schema) for c in candidates]
        same_parse = [(c.derivation.trace, *map(_link_without_things, c.derivation.links)) for c in candidates]
        return level_same_names(same_parse, similarities(question.text, texts, embedder.embed))

    return compare


def _link_without_things(link: Link) -> tuple[object, ...]:
    """What a span is taken for, apart from which thing of a name."""
    named = () if link.kind == "entity" else tuple(r.predicate or r.via or r.node for r in link.refs)
    return (link.start, link.end, link.kind, named)


def _highest_probability(
    rewrite: Rewrite, text: str, ranked: Sequence[RankedReading], question: Question, linker: Linker
) -> float:
    """The probability that what all readings rest on is right: the resolved references, names and dates."""
    if not rewrite.sure:
        return MAX_GUESS_PROBABILITY
    confidence = rewrite.scope.confidence if rewrite.scope is not None else 1.0
    is_guess = _guesses(ranked, question, linker) or _guesses_path(ranked, linker) or is_ambiguous_date(text)
    return min(confidence, MAX_GUESS_PROBABILITY if is_guess else 1.0)


def _guesses(ranked: Sequence[RankedReading], question: Question, linker: Linker) -> bool:
    """Whether the likeliest of the readings that use most words guesses part of a name, or what an adjective means."""
    best = min(ranked, key=lambda each: len(each.unused), default=None)
    if best is None:
        return False
    is_measure_guess = GUESSED_MEASURE_RULE in best.candidate.derivation.trace
    return is_measure_guess or is_part_name_guess(best.candidate, question, linker.index.graph)


def _guesses_path(ranked: Sequence[RankedReading], linker: Linker) -> bool:
    """Whether the likeliest reading passes unnamed things by two unnamed links, from no named thing."""
    select = asked_select(ranked[0].candidate.body) if ranked else None
    if select is None or any(each.keys for each in select.variables):
        return False
    links = ranked[0].candidate.derivation.links
    predicates = {ref.predicate or ref.via for link in links for ref in link.refs}
    nodes = linker.index.graph.nodes
    classes = {iri for x in links if x.kind == "class" for ref in x.refs for iri in nodes[ref.node].classes}
    terms = [*select.answers, *(each.left for each in select.filters), *([select.order.by] if select.order else [])]
    used = {*map(variable_of, terms), *select.group}
    passed = (v for v in select.variables if not v.keys and v.name not in used and classes.isdisjoint(v.classes))
    at_each = ([select.edges[i].predicate for i in edges_at(select, each.name)] for each in passed)
    return any(len(edges) > 1 and predicates.isdisjoint(edges) for edges in at_each)
