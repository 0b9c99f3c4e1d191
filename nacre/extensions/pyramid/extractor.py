"""Extract triples from the sentences of a document: claims + names of the graph -> ExtractedTriples."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import groupby

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from agents.model_calls import Limits, ModelFailed, prompt, structured_reply
from agents.turn_view import NO_USAGE, Result
from nacre.extensions.pyramid.clauses import MAX_TERM_LETTERS, object_kind
from nacre.extensions.pyramid.link_statements import (
    DocumentNames,
    link_statements,
    passage_topic,
    pattern_confidence,
    resolve_statement,
)
from nacre.language.sanitize import quote_line, strip_control_characters
from nacre.language.tokens import fold
from nacre.records.facts import ExtractedStatement, ExtractedTriple, SourceSentence
from nacre.records.threads import run_in_thread
from nacre.stores.sqlite.lexicon import Lexicon

# sentences that a model is shown at once (given: a small model makes more mistakes with more)
BATCH = 8

MODEL = "model"

Extractor = Callable[[Sequence[SourceSentence], Lexicon], Awaitable[Result[tuple[ExtractedTriple, ...]]]]


class ModelTriple(BaseModel):
    """One fact of one sentence."""

    sentence: int
    subject: str = Field(max_length=MAX_TERM_LETTERS)
    relation: str = Field(max_length=MAX_TERM_LETTERS)
    object: str = Field(max_length=MAX_TERM_LETTERS)


class ModelTriples(BaseModel):
    """The entities of some sentences, then what is said of them."""

    entities: list[str] = Field(max_length=60)
    triples: list[ModelTriple] = Field(max_length=60)


async def by_rules(claims: Sequence[SourceSentence], lexicon: Lexicon) -> Result[tuple[ExtractedTriple, ...]]:
    """Patterns over words, resolved against the names of the graph."""
    return Result(await run_in_thread(_by_patterns, claims, lexicon))


def _by_patterns(claims: Sequence[SourceSentence], lexicon: Lexicon) -> tuple[ExtractedTriple, ...]:
    return tuple(link_statements(claims, lexicon))


def by_model(model: BaseChatModel, rules: Extractor, limits: Limits) -> Extractor:
    """The model's triples that occur in their sentences; those of the rules for sentences at which it fails."""

    async def extractor(claims: Sequence[SourceSentence], lexicon: Lexicon) -> Result[tuple[ExtractedTriple, ...]]:
        found: list[ExtractedTriple] = []
        usage, why, names = NO_USAGE, "", DocumentNames(lexicon)
        for batch in _batches(claims):
            try:
                reply, call_usage = await structured_reply(model, _messages(batch), ModelTriples, limits=limits)
                usage += call_usage
                found += await run_in_thread(_grounded_triples, reply, batch, names)
            except ModelFailed as failed:
                usage, why = usage + failed.usage, failed.why
                found += (await rules(batch, lexicon)).value
        return Result(tuple(found), f"rules after model: {why}" if why else "model", usage)

    return extractor


def _batches(claims: Sequence[SourceSentence]) -> Iterator[list[SourceSentence]]:
    """Sentences under one title, a few at a time."""
    for _, group in groupby(claims, key=lambda claim: (claim.document, claim.title)):
        under = list(group)
        for start in range(0, len(under), BATCH):
            yield under[start : start + BATCH]


def _messages(batch: Sequence[SourceSentence]) -> list[SystemMessage | HumanMessage]:
    sentences = "\n".join(f"{n}. {quote_line(claim.text)}" for n, claim in enumerate(batch, 1))
    turn = prompt("extractor_turn", title=quote_line(batch[0].title), sentences=sentences)
    return [SystemMessage(prompt("extractor")), HumanMessage(turn)]


def _grounded_triples(
    reply: ModelTriples, batch: Sequence[SourceSentence], names: DocumentNames
) -> list[ExtractedTriple]:
    """The triples whose parts occur in their sentence; the subject may also be the topic of the text."""
    topic = passage_topic(batch[0].title, names)
    triples = []
    for each in reply.triples:
        if not 1 <= each.sentence <= len(batch):
            continue
        claim = batch[each.sentence - 1]
        subject, relation, value = (
            strip_control_characters(part).strip(" .,") for part in (each.subject, each.relation, each.object)
        )
        inside = fold(claim.text)
        of_topic = fold(subject) in fold(f"{topic} {claim.title}")
        if not (subject and relation and value) or fold(value) not in inside:
            continue
        if fold(subject) not in inside and not of_topic:
            continue
        statement = ExtractedStatement(subject, fold(relation), value, object_kind(value), MODEL)
        one = resolve_statement(statement, claim, names, pattern_confidence(MODEL))
        triples += [one] if one is not None else []
    return triples
