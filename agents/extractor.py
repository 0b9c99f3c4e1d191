"""Take triples out of the sentences of one document: claims + names of the graph -> Extracted, by rules or a model."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import groupby

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from agents.models.calls import ModelFailed, structured
from agents.models.limits import Limits
from agents.prompt import prompt
from agents.result import NOTHING, Result
from agents.run_in_thread import off_loop
from nacre.extraction.clauses import LONGEST_END, kind_of
from nacre.extraction.resolve import Names, about, extracted, pattern_confidence, resolve
from nacre.language.sanitize import plain, quoted
from nacre.language.tokens import fold
from nacre.records.extracted import Claim, Extracted, Statement
from nacre.stores.sqlite.lexicon import Lexicon

# sentences that a model is shown at once (given: a small model loses its way in more)
BATCH = 8
MODEL = "model"

Extractor = Callable[[Sequence[Claim], Lexicon], Awaitable[Result[tuple[Extracted, ...]]]]


class Triple(BaseModel):
    """One fact of one sentence."""

    sentence: int
    subject: str = Field(max_length=LONGEST_END)
    relation: str = Field(max_length=LONGEST_END)
    object: str = Field(max_length=LONGEST_END)


class Triples(BaseModel):
    """The entities of some sentences, then what is said of them."""

    entities: list[str] = Field(max_length=60)
    triples: list[Triple] = Field(max_length=60)


async def by_rules(claims: Sequence[Claim], lexicon: Lexicon) -> Result[tuple[Extracted, ...]]:
    """Patterns over words, resolved against the names of the graph."""
    return Result(await off_loop(_by_patterns, claims, lexicon))


def _by_patterns(claims: Sequence[Claim], lexicon: Lexicon) -> tuple[Extracted, ...]:
    return tuple(extracted(claims, lexicon))


def by_model(model: BaseChatModel, rules: Extractor, limits: Limits) -> Extractor:
    """The model's triples, those that stand in their sentences; the rules' for sentences at which it fails."""

    async def extractor(claims: Sequence[Claim], lexicon: Lexicon) -> Result[tuple[Extracted, ...]]:
        found: list[Extracted] = []
        usage, why, names = NOTHING, "", Names(lexicon)
        for batch in _batches(claims):
            try:
                said, spent = await structured(model, _messages(batch), Triples, limits=limits)
                usage += spent
                found += await off_loop(_kept, said, batch, names)
            except ModelFailed as failed:
                usage, why = usage + failed.usage, failed.why
                found += (await rules(batch, lexicon)).value
        return Result(tuple(found), f"rules after model: {why}" if why else "model", usage)

    return extractor


def _batches(claims: Sequence[Claim]) -> Iterator[list[Claim]]:
    """Sentences under one title, a few at a time."""
    for _, group in groupby(claims, key=lambda claim: (claim.document, claim.title)):
        under = list(group)
        for start in range(0, len(under), BATCH):
            yield under[start : start + BATCH]


def _messages(batch: Sequence[Claim]) -> list[SystemMessage | HumanMessage]:
    sentences = "\n".join(f"{n}. {quoted(claim.text)}" for n, claim in enumerate(batch, 1))
    turn = prompt("extractor_turn", title=quoted(batch[0].title), sentences=sentences)
    return [SystemMessage(prompt("extractor")), HumanMessage(turn)]


def _kept(said: Triples, batch: Sequence[Claim], names: Names) -> list[Extracted]:
    """What stands in the sentence that it is said to stand in; the subject may also be what the text is about."""
    topic = about(batch[0].title, names)
    kept = []
    for each in said.triples:
        if not 1 <= each.sentence <= len(batch):
            continue
        claim = batch[each.sentence - 1]
        subject, relation, value = (plain(part).strip(" .,") for part in (each.subject, each.relation, each.object))
        inside = fold(claim.text)
        of_topic = fold(subject) in fold(f"{topic} {claim.title}")
        if not (subject and relation and value) or fold(value) not in inside:
            continue
        if fold(subject) not in inside and not of_topic:
            continue
        statement = Statement(subject, fold(relation), value, kind_of(value), MODEL)
        one = resolve(statement, claim, names, pattern_confidence(MODEL))
        kept += [one] if one is not None else []
    return kept
