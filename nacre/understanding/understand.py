"""Understand one standalone question over one graph: Rewrite -> Understanding. The stages stand in `understand`."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from rapidfuzz import fuzz, process

from nacre.config.embedder import BUNDLED
from nacre.language.courtesy import is_greeting, reason, without_courtesy
from nacre.language.dates import has_either_day_first
from nacre.language.quantities import units
from nacre.language.tokens import tokens
from nacre.records.cancellation import Deadline, within
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
from nacre.records.turn import Expected, Mention, Reading, Rewrite, Scope, Understanding
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.dialogue.references.exclude_given import left_out
from nacre.understanding.dialogue.references.pronouns import without_scope
from nacre.understanding.dialogue.references.scope import in_scope, over_scope
from nacre.understanding.dialogue.revisions.follow_up import with_number, without_lead
from nacre.understanding.dialogue.revisions.revised_readings import changed, together
from nacre.understanding.linking.index import link
from nacre.understanding.linking.linker import Linker
from nacre.understanding.linking.names.misspellings import slips
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.parsing.constraints.answer_type import Answering, answering, guesses
from nacre.understanding.parsing.constraints.direction import not_turned
from nacre.understanding.parsing.constraints.part_of import with_parts
from nacre.understanding.parsing.constraints.relative_clauses import of_relative
from nacre.understanding.parsing.derive import MOST, derive
from nacre.understanding.parsing.lowering.members import of_members
from nacre.understanding.parsing.lowering.role_holders import behind
from nacre.understanding.parsing.profile_questions import Grouped, about_whole, profile
from nacre.understanding.parsing.readers.ages import ages
from nacre.understanding.parsing.readers.averages import averages
from nacre.understanding.parsing.readers.choice import choices
from nacre.understanding.parsing.readers.comparison import compares, comparisons
from nacre.understanding.parsing.readers.more_than import Counted, more_than
from nacre.understanding.parsing.readers.shares import is_count, shares
from nacre.understanding.parsing.readers.two_questions import two_questions
from nacre.understanding.parsing.readers.yes_no import about_named, as_asked, comparable, of_kind
from nacre.understanding.question.analyse import analyse
from nacre.understanding.question.types import Link, Question
from nacre.understanding.ranking.best_readings import BEST, best_readings, nameless
from nacre.understanding.ranking.features import unused_tokens
from nacre.understanding.ranking.rank import Ranked, rank
from nacre.understanding.ranking.similarity import likenesses, of_one_name
from nacre.understanding.ranking.unheeded_words import dropped
from nacre.understanding.ranking.weights import weights
from nacre.wording.phrases.plan import to_words

# names whose other meanings are kept, and these in all
MOST_NAMED, MOST_ALIKE = 12, 60
# cues that order or compare
PLACING = frozenset(("superlative", "most", "comparative", "degree"))
# the most that a reading is believed whose pronoun stands for nothing that was found, that is a guess, or that has a
# date of which nobody can tell the day from the month (given)
ADRIFT = 0.5
# a question is read or declined within this time of the processor
SECONDS = 1.2
# how alike a known name must be to be offered for a word that names nothing (rapidfuzz ratio)
ALIKE = 80


@lru_cache(maxsize=8)
def indexes(lexicon: Lexicon) -> Linker:
    """The indexes that understanding needs over one lexicon, built once."""
    return Linker(lexicon)


def understand(rewrite: Rewrite, schema: Schema, lexicon: Lexicon, most: int = MOST) -> Understanding:
    """The mentions, the best plans (best first) and the expected kind of answer of a standalone question; of `most`
    readings at most."""
    if rewrite.chosen is not None and (expected := _expected_of(rewrite.chosen, schema)) is not None:
        return Understanding(rewrite.standalone, (), (replace(rewrite.chosen, covered=1.0),), expected)
    linker = indexes(lexicon)
    text = text_of(rewrite)
    written = without_courtesy(text)
    question = read(text, linker)
    if rewrite.aside or is_greeting(rewrite.standalone) or about_whole(question.text):
        plan = Plan(Overview())
        overview = Reading(plan, 1.0, 1.0, to_words(plan, schema), 1.0)
        return Understanding(rewrite.standalone, (), (overview,), "prose")
    if any(number.unit for number in question.numbers):
        units.load()
    links = links_of(question, rewrite.scope, linker)
    # what is loaded once a process, above, is no part of the first question's time
    deadline = within(SECONDS)
    answers = answering(derived(question, links, linker, deadline, most), question, linker.index.graph)
    candidates = kept(answers, question, rewrite.scope)[:most]
    cut = deadline.is_over()
    graph = linker.index.graph
    ranked, readings = best_readings(
        rank(candidates, question, graph, weights(), _likeness(question, linker)), question, links, graph, schema
    )
    changing = changed(ranked, links, question, rewrite.scope, linker, schema)
    if rewrite.scope is not None and rewrite.scope.how == "number":
        # what else is read of it holds the number that only stands in for the one before
        readings = changing
    readings = together(changing, readings, BEST)
    prose = None if changing else profile(question, links, linker.index, rewrite.scope, _groups(linker, deadline))
    if prose is not None:
        plan = Plan(prose)
        readings = (Reading(plan, 1.0, 1.0, to_words(plan, schema), 1.0), *readings)[:BEST]
    best = ranked[0] if ranked else None
    said = _said(best, links)
    return Understanding(
        standalone=rewrite.standalone,
        mentions=tuple(_mention(each, question, written) for each in said),
        readings=readings,
        expected=_expected(readings[0].plan.body if readings else None, schema),
        unknown=() if prose is not None or changing else _unknown(best, question, links, linker),
        candidates=tuple(_mention(each, question, written) for each in _alike(said, links)[:MOST_ALIKE]),
        considered=len(ranked),
        cut=cut,
        most=min(_most(rewrite), ADRIFT if _guessed(ranked, question, linker) or has_either_day_first(text) else 1.0),
        unstated=_unstated(answers, schema),
    )


def text_of(rewrite: Rewrite) -> str:
    """What is read of a rewritten question: the list after a plural pronoun is for people, the scope says it better."""
    text = without_scope(rewrite.standalone, rewrite.scope)
    if rewrite.scope is not None and rewrite.scope.how == "number":
        return with_number(text)
    return without_lead(text) if rewrite.scope is not None and rewrite.scope.how == "exclude" else text


def links_of(question: Question, scope: Scope | None, linker: Linker) -> list[Link]:
    """What the words of a question may name, in the conversation that it stands in."""
    found = link(question, linker.index)
    found += slips(question, found, linker.index, linker.spelling)
    return in_scope(found, scope, question, linker.index)


def kept(answers: Answering, question: Question, scope: Scope | None) -> list[Candidate]:
    """The readings that give what is asked for, of the things of the conversation where some are, or of others."""
    return in_conversation(answers.kept if answers.nearest is None else [], question, scope)


def in_conversation(candidates: list[Candidate], question: Question, scope: Scope | None) -> list[Candidate]:
    """The readings that speak of the things of the conversation where some do, without those that were given where
    others are asked for."""
    found = over_scope(candidates, question)
    return [left_out(c, scope.besides) for c in found] if scope is not None and scope.besides else found


def _said_by(link: Link) -> tuple[object, ...]:
    """What a stretch of the question is taken for, but for which thing of a name."""
    named = () if link.kind == "entity" else tuple(r.predicate or r.via or r.node for r in link.refs)
    return (link.start, link.end, link.kind, named)


def _likeness(question: Question, linker: Linker) -> Callable[[Sequence[Candidate]], list[float]] | None:
    """How like a question readings are in words; None without the embedder that this is learned with."""
    embedder, schema = linker.lexicon.embedder, linker.lexicon.schema
    if embedder is None or embedder.name != BUNDLED:
        return None

    def like(found: Sequence[Candidate]) -> list[float]:
        alike = likenesses(question.text, [to_words(Plan(c.body), schema) for c in found], embedder.embed)
        return of_one_name([(c.derivation.trace, *map(_said_by, c.derivation.links)) for c in found], alike)

    return like


def _guessed(ranked: Sequence[Ranked], question: Question, linker: Linker) -> bool:
    """Whether the likeliest reading that accounts for most words is a guess."""
    best = min(ranked, key=lambda each: len(each.unused), default=None)
    return best is not None and guesses(best.candidate, question, linker.index.graph)


def _unstated(answers: Answering, schema: Schema) -> tuple[str, str] | None:
    """What is asked for and no reading gives, and what is nearest to it."""
    if answers.nearest is None:
        return None
    return answers.asked, to_words(Plan(answers.nearest.body), schema)


def _most(rewrite: Rewrite) -> float:
    """The probability that what a question leans on was understood."""
    if not rewrite.sure:
        return ADRIFT
    return rewrite.scope.confidence if rewrite.scope is not None else 1.0


def read(text: str, linker: Linker) -> Question:
    """The question without courtesy, in right spelling, and without a reason for it that names nothing of the graph;
    places in it are places in the text.

    Forms of small words that names of the graph hold mean something: "found" where something is "found at".
    """
    text = without_courtesy(text)
    end = reason(text)
    if end and not linker.link(tokens(text[:end])):
        text = " " * end + text[end:]
    question = analyse(linker.spelling.corrected(text))
    done, words = linker.index.terms.done, question.tokens
    return question._replace(
        light=frozenset(i for i in question.light if words[i].norm == words[i].lemma or words[i].lemma not in done)
    )


def derived(
    question: Question, links: list[Link], linker: Linker, deadline: Deadline, most: int = MOST
) -> list[Candidate]:
    """All readings of a question, unranked, in the form it asks for."""
    kind = of_kind(question, links, linker.index.graph)
    if kind is not None:
        return [kind]
    compared = list(comparisons(question, links, linker.index))
    if compared and compares(question):
        return compared
    counted = list(more_than(question, links, _counts(linker, deadline)))
    if counted:
        return counted
    aged = list(ages(question, links, linker.index.graph))
    if any(not unused_tokens(c, question) for c in aged):
        return aged
    graph = linker.index.graph
    chosen = [*choices(question, links, linker.index), *averages(question, links, graph)]
    chosen = chosen or list(shares(question, links, lambda q, found: derive(q, found, linker.index, deadline, most)))
    if chosen:
        return chosen
    both = list(two_questions(question, lambda text: _every_word(text, linker, deadline), graph.schema))
    if both:
        return both
    read_as = (behind(c, question, graph) for c in derive(question, links, linker.index, deadline, most))
    found = [as_asked(c, question, graph) for c in read_as]
    found = [c for c in not_turned(found, question, graph) if comparable(c, graph)]
    found = of_relative(found, question, graph)
    gathered = [c._replace(body=with_parts(of_members(c.body, graph), graph)) for c in about_named(found, links)]
    return [*aged, *compared, *gathered]


def _every_word(text: str, linker: Linker, deadline: Deadline) -> list[Candidate]:
    """The readings of a phrase or a part of a question in which each word is used, the likeliest first."""
    question = read(text, linker)
    found = derived(question, link(question, linker.index), linker, deadline)
    graph = linker.index.graph
    ranked = rank(found, question, graph, weights())
    return [r.candidate for r in ranked if not r.unused and not dropped(r.candidate, question, graph)]


def _whole(text: str, linker: Linker, deadline: Deadline) -> list[Body]:
    """What a phrase or a part of a question asks, each word of it used, the likeliest first."""
    return [c.body for c in _every_word(text, linker, deadline)]


def _counts(linker: Linker, deadline: Deadline) -> Counted:
    """Reads a question for one number of things."""

    def counted(text: str) -> Select | None:
        bodies = _whole(text, linker, deadline)
        return bodies[0] if bodies and isinstance(bodies[0], Select) and is_count(bodies[0]) else None

    return counted


def _groups(linker: Linker, deadline: Deadline) -> Grouped:
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


def _said(best: Ranked | None, links: Sequence[Link]) -> Sequence[Link]:
    """What is named, for whoever else reads the question: by the best reading, else surely."""
    if best is not None:
        return best.candidate.derivation.links
    return [x for x in links if x.exact]


def _alike(said: Sequence[Link], links: Sequence[Link]) -> list[Link]:
    """What the words that are named may name besides, the best first."""
    stretches = {(each.start, each.end) for each in said[:MOST_NAMED]}
    found = dict.fromkeys(each for each in (*said, *links) if (each.start, each.end) in stretches)
    apart = (each._replace(keys=(key,)) for each in found for key in each.keys[:MOST_NAMED] or ("",))
    return sorted(apart, key=lambda each: (each.start, each.end, -each.score))


def _unknown(
    best: Ranked | None, question: Question, links: Sequence[Link], linker: Linker
) -> tuple[tuple[str, str], ...]:
    """Content words that neither the best reading nor any link accounts for, each with the nearest known name or ""."""
    open_ = nameless(links, question)
    # "oldest" is a word of the language, whatever the graph holds
    placing = {i for c in question.cues if c.kind in PLACING for i in range(c.start, c.end)}
    found = []
    for i in best.unused if best is not None else range(len(question.tokens)):
        token = question.tokens[i]
        if i in placing or i not in open_:
            continue
        near = process.extractOne(token.norm, linker.entities.near(token.norm), scorer=fuzz.ratio, score_cutoff=ALIKE)
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
