"""Understand one standalone question over one graph: Rewrite -> Understanding. The stages stand in `understand`."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from rapidfuzz import fuzz, process

from nacre.config.embedder import BUNDLED_EMBEDDER
from nacre.language.courtesy import is_greeting, reason_end, strip_courtesy
from nacre.language.dates import is_ambiguous_date
from nacre.language.quantities import units
from nacre.language.tokens import tokenize
from nacre.records.cancellation import Deadline, start_deadline
from nacre.records.plan import (
    ARITHMETIC,
    ELAPSED,
    Aggregate,
    Ask,
    Body,
    Combine,
    Compute,
    Itself,
    Overview,
    Plan,
    Profile,
    Select,
)
from nacre.records.schema import Schema
from nacre.records.turn import ExpectedKind, Mention, Reading, Rewrite, Scope, Understanding
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.dialogue.references.exclude_given import exclude_given
from nacre.understanding.dialogue.references.pronouns import strip_scope
from nacre.understanding.dialogue.references.scope import scope_candidates, scope_links
from nacre.understanding.dialogue.revisions.follow_up import insert_stand_in, strip_exclusion_lead
from nacre.understanding.dialogue.revisions.revised_readings import merge_readings, revised_readings
from nacre.understanding.linking.index import link_mentions
from nacre.understanding.linking.linker import Linker
from nacre.understanding.linking.misspellings import link_misspellings
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.parsing.constraints.answer_type import (
    AnswerTypeMatch,
    filter_by_answer_type,
    is_part_name_guess,
)
from nacre.understanding.parsing.constraints.direction import drop_reversed_links
from nacre.understanding.parsing.constraints.part_of import include_parts
from nacre.understanding.parsing.constraints.relative_clauses import attach_relative_clauses
from nacre.understanding.parsing.coverage import unused_tokens
from nacre.understanding.parsing.derive import MAX_CANDIDATES, derive_candidates
from nacre.understanding.parsing.lowering.members import aggregate_members
from nacre.understanding.parsing.lowering.role_holders import resolve_role_holder
from nacre.understanding.parsing.profile_questions import GroupReader, is_about_graph, profile_plan
from nacre.understanding.parsing.readers.ages import read_ages
from nacre.understanding.parsing.readers.averages import read_averages
from nacre.understanding.parsing.readers.choice import read_choices
from nacre.understanding.parsing.readers.comparison import is_comparison, read_comparisons
from nacre.understanding.parsing.readers.more_than import CountReader, read_more_than
from nacre.understanding.parsing.readers.shares import is_thing_count, read_shares
from nacre.understanding.parsing.readers.two_questions import read_two_questions
from nacre.understanding.parsing.readers.yes_no import as_yes_no, is_comparable, keep_named_things, read_kind_question
from nacre.understanding.question.analyse import analyse_question
from nacre.understanding.question.types import Link, Question
from nacre.understanding.ranking.best_readings import MAX_READINGS, best_readings, unlinked_tokens
from nacre.understanding.ranking.rank import RankedReading, rank_candidates
from nacre.understanding.ranking.similarity import level_same_names, similarities
from nacre.understanding.ranking.unheeded_words import unheeded_words
from nacre.understanding.ranking.weights import load_weights
from nacre.wording.phrases.plan import verbalise_plan

# names whose other meanings are kept, and these in all
MAX_NAMED, MAX_ALTERNATIVE_MENTIONS = 12, 60
# cues that order or compare
RANKING_CUES = frozenset(("superlative", "most", "comparative", "degree"))
# the most that a reading is believed whose pronoun stands for nothing that was found, that is a guess, or that has a
# date of which nobody can tell the day from the month (given)
MAX_GUESS_PROBABILITY = 0.5
# a question is read or declined within this time of the processor
UNDERSTANDING_SECONDS = 1.2
# how alike a known name must be to be offered for a word that names nothing (rapidfuzz ratio)
MIN_SUGGESTION_RATIO = 80


@lru_cache(maxsize=8)
def linker_of(lexicon: Lexicon) -> Linker:
    """The indexes that understanding needs over one lexicon, built once."""
    return Linker(lexicon)


def understand(rewrite: Rewrite, schema: Schema, lexicon: Lexicon, most: int = MAX_CANDIDATES) -> Understanding:
    """The mentions, the best plans (best first) and the expected kind of answer of a standalone question; of `most`
    readings at most."""
    if rewrite.chosen is not None and (expected := _expected_of(rewrite.chosen, schema)) is not None:
        return Understanding(rewrite.standalone, (), (replace(rewrite.chosen, covered=1.0),), expected)
    linker = linker_of(lexicon)
    text = question_text(rewrite)
    written = strip_courtesy(text)
    question = prepare_question(text, linker)
    if rewrite.aside or is_greeting(rewrite.standalone) or is_about_graph(question.text):
        plan = Plan(Overview())
        overview = Reading(plan, 1.0, 1.0, verbalise_plan(plan, schema), 1.0)
        return Understanding(rewrite.standalone, (), (overview,), "prose")
    if any(number.unit for number in question.numbers):
        units.load_unit_registry()
    links = scoped_links(question, rewrite.scope, linker)
    # what is loaded once a process, above, is no part of the first question's time
    deadline = start_deadline(UNDERSTANDING_SECONDS)
    answers = filter_by_answer_type(
        parse_question(question, links, linker, deadline, most), question, linker.index.graph
    )
    candidates = answering_candidates(answers, question, rewrite.scope)[:most]
    cut = deadline.is_over()
    graph = linker.index.graph
    ranked, readings = best_readings(
        rank_candidates(candidates, question, graph, load_weights(), _likeness(question, linker)),
        question,
        links,
        graph,
        schema,
    )
    changing = revised_readings(ranked, links, question, rewrite.scope, linker, schema)
    if rewrite.scope is not None and rewrite.scope.how == "number":
        # what else is read of it holds the number that only stands in for the one before
        readings = changing
    readings = merge_readings(changing, readings, MAX_READINGS)
    prose = None if changing else profile_plan(question, links, linker.index, rewrite.scope, _groups(linker, deadline))
    if prose is not None:
        plan = Plan(prose)
        readings = (Reading(plan, 1.0, 1.0, verbalise_plan(plan, schema), 1.0), *readings)[:MAX_READINGS]
    best = ranked[0] if ranked else None
    said = _said(best, links)
    return Understanding(
        standalone=rewrite.standalone,
        mentions=tuple(_mention(each, question, written) for each in said),
        readings=readings,
        expected=_expected(readings[0].plan.body if readings else None, schema),
        unknown=() if prose is not None or changing else _unknown(best, question, links, linker),
        candidates=tuple(_mention(each, question, written) for each in _alike(said, links)[:MAX_ALTERNATIVE_MENTIONS]),
        considered=len(ranked),
        cut=cut,
        most=min(
            _most(rewrite),
            MAX_GUESS_PROBABILITY if _guessed(ranked, question, linker) or is_ambiguous_date(text) else 1.0,
        ),
        unstated=_unstated(answers, schema),
    )


def question_text(rewrite: Rewrite) -> str:
    """What is read of a rewritten question: the list after a plural pronoun is for people, the scope says it better."""
    text = strip_scope(rewrite.standalone, rewrite.scope)
    if rewrite.scope is not None and rewrite.scope.how == "number":
        return insert_stand_in(text)
    return strip_exclusion_lead(text) if rewrite.scope is not None and rewrite.scope.how == "exclude" else text


def scoped_links(question: Question, scope: Scope | None, linker: Linker) -> list[Link]:
    """What the words of a question may name, in the conversation that it stands in."""
    found = link_mentions(question, linker.index)
    found += link_misspellings(question, found, linker.index, linker.spelling)
    return scope_links(found, scope, question, linker.index)


def answering_candidates(answers: AnswerTypeMatch, question: Question, scope: Scope | None) -> list[Candidate]:
    """The readings that give what is asked for, of the things of the conversation where some are, or of others."""
    return candidates_in_scope(answers.kept if answers.nearest is None else [], question, scope)


def candidates_in_scope(candidates: list[Candidate], question: Question, scope: Scope | None) -> list[Candidate]:
    """The readings that speak of the things of the conversation where some do, without those that were given where
    others are asked for."""
    found = scope_candidates(candidates, question)
    return [exclude_given(c, scope.besides) for c in found] if scope is not None and scope.besides else found


def _said_by(link: Link) -> tuple[object, ...]:
    """What a stretch of the question is taken for, but for which thing of a name."""
    named = () if link.kind == "entity" else tuple(r.predicate or r.via or r.node for r in link.refs)
    return (link.start, link.end, link.kind, named)


def _likeness(question: Question, linker: Linker) -> Callable[[Sequence[Candidate]], list[float]] | None:
    """How like a question readings are in words; None without the embedder that this is learned with."""
    embedder, schema = linker.lexicon.embedder, linker.lexicon.schema
    if embedder is None or embedder.name != BUNDLED_EMBEDDER:
        return None

    def like(found: Sequence[Candidate]) -> list[float]:
        alike = similarities(question.text, [verbalise_plan(Plan(c.body), schema) for c in found], embedder.embed)
        return level_same_names([(c.derivation.trace, *map(_said_by, c.derivation.links)) for c in found], alike)

    return like


def _guessed(ranked: Sequence[RankedReading], question: Question, linker: Linker) -> bool:
    """Whether the likeliest reading that accounts for most words is a guess."""
    best = min(ranked, key=lambda each: len(each.unused), default=None)
    return best is not None and is_part_name_guess(best.candidate, question, linker.index.graph)


def _unstated(answers: AnswerTypeMatch, schema: Schema) -> tuple[str, str] | None:
    """What is asked for and no reading gives, and what is nearest to it."""
    if answers.nearest is None:
        return None
    return answers.asked, verbalise_plan(Plan(answers.nearest.body), schema)


def _most(rewrite: Rewrite) -> float:
    """The probability that what a question leans on was understood."""
    if not rewrite.sure:
        return MAX_GUESS_PROBABILITY
    return rewrite.scope.confidence if rewrite.scope is not None else 1.0


def prepare_question(text: str, linker: Linker) -> Question:
    """The question without courtesy, in right spelling, and without a reason for it that names nothing of the graph;
    places in it are places in the text.

    Forms of small words that names of the graph hold mean something: "found" where something is "found at".
    """
    text = strip_courtesy(text)
    end = reason_end(text)
    if end and not linker.link(tokenize(text[:end])):
        text = " " * end + text[end:]
    question = analyse_question(linker.spelling.corrected(text))
    done, words = linker.index.terms.done, question.tokens
    return question._replace(
        stopwords=frozenset(
            i for i in question.stopwords if words[i].norm == words[i].lemma or words[i].lemma not in done
        )
    )


def parse_question(
    question: Question, links: list[Link], linker: Linker, deadline: Deadline, most: int = MAX_CANDIDATES
) -> list[Candidate]:
    """All readings of a question, unranked, in the form it asks for."""
    kind = read_kind_question(question, links, linker.index.graph)
    if kind is not None:
        return [kind]
    compared = list(read_comparisons(question, links, linker.index))
    if compared and is_comparison(question):
        return compared
    counted = list(read_more_than(question, links, _counts(linker, deadline)))
    if counted:
        return counted
    aged = list(read_ages(question, links, linker.index.graph))
    if any(not unused_tokens(c, question) for c in aged):
        return aged
    graph = linker.index.graph
    chosen = [*read_choices(question, links, linker.index), *read_averages(question, links, graph)]
    chosen = chosen or list(
        read_shares(question, links, lambda q, found: derive_candidates(q, found, linker.index, deadline, most))
    )
    if chosen:
        return chosen
    both = list(read_two_questions(question, lambda text: _every_word(text, linker, deadline), graph.schema))
    if both:
        return both
    read_as = (
        resolve_role_holder(c, question, graph)
        for c in derive_candidates(question, links, linker.index, deadline, most)
    )
    found = [as_yes_no(c, question, graph) for c in read_as]
    found = [c for c in drop_reversed_links(found, question, graph) if is_comparable(c, graph)]
    found = attach_relative_clauses(found, question, graph)
    gathered = [
        c._replace(body=include_parts(aggregate_members(c.body, graph), graph)) for c in keep_named_things(found, links)
    ]
    return [*aged, *compared, *gathered]


def _every_word(text: str, linker: Linker, deadline: Deadline) -> list[Candidate]:
    """The readings of a phrase or a part of a question in which each word is used, the likeliest first."""
    question = prepare_question(text, linker)
    found = parse_question(question, link_mentions(question, linker.index), linker, deadline)
    graph = linker.index.graph
    ranked = rank_candidates(found, question, graph, load_weights())
    return [r.candidate for r in ranked if not r.unused and not unheeded_words(r.candidate, question, graph)]


def _whole(text: str, linker: Linker, deadline: Deadline) -> list[Body]:
    """What a phrase or a part of a question asks, each word of it used, the likeliest first."""
    return [c.body for c in _every_word(text, linker, deadline)]


def _counts(linker: Linker, deadline: Deadline) -> CountReader:
    """Reads a question for one number of things."""

    def counted(text: str) -> Select | None:
        bodies = _whole(text, linker, deadline)
        return bodies[0] if bodies and isinstance(bodies[0], Select) and is_thing_count(bodies[0]) else None

    return counted


def _groups(linker: Linker, deadline: Deadline) -> GroupReader:
    """Reads a phrase as things of a kind that meet conditions, each word of it used."""

    def grouped(phrase: str) -> list[Select]:
        return [
            b
            for b in _whole(phrase, linker, deadline)
            if isinstance(b, Select)
            if len(b.answers) == 1 and isinstance(b.answers[0], Itself)
            if (b.edges or b.filters) and b.limit is None and not b.group
        ]

    return grouped


def _said(best: RankedReading | None, links: Sequence[Link]) -> Sequence[Link]:
    """What is named, for whoever else reads the question: by the best reading, else surely."""
    if best is not None:
        return best.candidate.derivation.links
    return [x for x in links if x.exact]


def _alike(said: Sequence[Link], links: Sequence[Link]) -> list[Link]:
    """What the words that are named may name besides, the best first."""
    stretches = {(each.start, each.end) for each in said[:MAX_NAMED]}
    found = dict.fromkeys(each for each in (*said, *links) if (each.start, each.end) in stretches)
    apart = (each._replace(keys=(key,)) for each in found for key in each.keys[:MAX_NAMED] or ("",))
    return sorted(apart, key=lambda each: (each.start, each.end, -each.score))


def _unknown(
    best: RankedReading | None, question: Question, links: Sequence[Link], linker: Linker
) -> tuple[tuple[str, str], ...]:
    """Content words that neither the best reading nor any link accounts for, each with the nearest known name or ""."""
    open_ = unlinked_tokens(links, question)
    # "oldest" is a word of the language, whatever the graph holds
    placing = {i for c in question.cues if c.kind in RANKING_CUES for i in range(c.start, c.end)}
    found = []
    for i in best.unused if best is not None else range(len(question.tokens)):
        token = question.tokens[i]
        if i in placing or i not in open_:
            continue
        near = process.extractOne(
            token.norm, linker.entities.near(token.norm), scorer=fuzz.ratio, score_cutoff=MIN_SUGGESTION_RATIO
        )
        found.append((token.text, near[0] if near and near[0] != token.norm else ""))
    return tuple(found)


def _mention(each: Link, question: Question, written: str) -> Mention:
    start, end = question.tokens[each.start].start, question.tokens[each.end - 1].end
    kind = "predicate" if each.kind == "property" else each.kind
    ref = each.refs[0]
    target = ref.predicate or ref.via or (each.keys[0] if len(each.keys) == 1 else "")
    return Mention(
        written[start:end],
        start,
        end,
        kind,
        str(each.value) if each.kind == "value" else target,
        each.label or written[start:end],
        round(each.score, 3),
        ref.predicate if each.kind == "value" else "",
    )


def _expected_of(reading: Reading, schema: Schema) -> ExpectedKind | None:
    """What a reading that was offered before asks for; None where the graph no longer has what it is about."""
    try:
        verbalise_plan(reading.plan, schema)
        return _expected(reading.plan.body, schema)
    except KeyError:
        return None


def _expected(body: Body | None, schema: Schema) -> ExpectedKind:
    if body is None:
        return "text"
    if isinstance(body, Profile | Overview):
        return "prose"
    if isinstance(body, Ask) or (isinstance(body, Compute) and body.op not in ARITHMETIC | ELAPSED):
        return "boolean"
    if isinstance(body, Compute):
        return "number"
    select = body.left if isinstance(body, Combine) else body
    assert isinstance(select, Select)
    last = select.answers[-1]
    if isinstance(last, Itself):
        return "entities"
    if isinstance(last, Aggregate):
        return "number"
    predicate = schema.predicate_of[last.predicate]
    return (
        "date" if predicate.datatype in ("date", "datetime") else "number" if predicate.minimum is not None else "text"
    )
