"""Extract triples from texts into a layer of a graph: texts + Graph -> TextExtraction -> a published layer.

Then those of the sentences of a document: claims + names of the graph -> ExtractedTriples, by a model or by rules,
which link the statements of the sentences to the names of the graph."""

import json
import logging
import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from itertools import groupby
from pathlib import Path

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from agents.model_calls import Limits, ModelFailed, prompt, structured_reply
from agents.turn_view import NO_USAGE, Result, Usage
from ingestion.stages import (
    build_folder,
    exclusive_writer,
    new_version_id,
    publish_layers,
    report_write_errors,
    switch_version,
)
from nacre.errors import ConfigError
from nacre.extension import service
from nacre.extensions.pyramid.clauses import MAX_TERM_LETTERS, ExtractedStatement, extract_statements, object_kind
from nacre.language.sanitize import quote_line, strip_control_characters
from nacre.language.tokens import fold, lemma, name_tokens
from nacre.records.evidence import EXTRACTED_NAMESPACE, ExtractedTriple, Passage, SourceSentence
from nacre.records.threads import run_in_thread
from nacre.stores import versions
from nacre.stores.catalog import Graph, Servers
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.stores.sqlite.triples import DDL, TripleReader

log = logging.getLogger(__name__)

ALONE = 500


@dataclass(frozen=True)
class TextExtraction:
    """What texts state in addition to the graph. `known` are triples that the graph has too, `sentences` counts the
    sentences, `by` is the extractor."""

    triples: tuple[ExtractedTriple, ...]
    known: tuple[ExtractedTriple, ...]
    sentences: int
    documents: int
    by: str
    usage: Usage = NO_USAGE


def normalise_name(text: str) -> str:
    """A name in the form for lookup in a layer.

    >>> normalise_name("University of Basel")
    'university of basel'
    """
    return " ".join(name_tokens(text))


def read_source_sentences(graph: Graph, texts: Sequence[str]) -> Iterator[SourceSentence]:
    """The sentences of the given texts, else of the graph's documents, document by document."""
    passages: Iterator[Passage]
    if texts:
        passages = service("documents", "passages")(texts)
    elif graph.passages is not None:
        stored = graph.passages
        ids = stored.written()
        passages = (each for start in range(0, len(ids), ALONE) for each in stored.get(ids[start : start + ALONE]))
    else:
        passages = iter(())
    for passage in passages:
        for sentence in passage.sentences:
            if sentence.document is not None:
                yield SourceSentence(sentence.text, sentence.document, sentence.start, sentence.end, passage.title)


Extractor = Callable[[Sequence[SourceSentence], Lexicon], Awaitable[Result[tuple[ExtractedTriple, ...]]]]


async def extract_triples(
    graph: Graph,
    extractor: Extractor,
    texts: Sequence[str] = (),
    on_document: Callable[[str], None] = lambda document: None,
) -> TextExtraction:
    """The triples that the texts state, once for each sentence; writes nothing. Raises ConfigError if there are no
    texts, IngestionError for unreadable texts."""
    if graph.stored is None:
        raise ConfigError(f"Graph {graph.name!r} is attached; triples are extracted beside ingested graphs alone.")
    found: list[ExtractedTriple] = []
    usage, by, sentences, documents = NO_USAGE, "rules", 0, 0
    for document, group in groupby(read_source_sentences(graph, texts), key=lambda claim: claim.document):
        on_document(document)
        claims = list(group)
        sentences, documents = sentences + len(claims), documents + 1
        result = await extractor(claims, graph.lexicon)
        usage, by = usage + result.usage, by if " after " in by else result.by
        found += map(_without_completion, result.value)
    if not sentences:
        raise ConfigError(f"There is no text to read. Run: nacre extract TEXTS --graph {graph.name}")
    held = _held(graph, found)
    known = tuple(each for each, there in zip(found, held, strict=True) if there)
    new = tuple(each for each, there in zip(found, held, strict=True) if not there)
    return TextExtraction(new, known, sentences, documents, by, usage)


def _without_completion(triple: ExtractedTriple) -> ExtractedTriple:
    """The triple without keys that only an earlier completion gave, which reads other triples than these."""
    subject, relation, object_ = (
        "" if key.startswith(EXTRACTED_NAMESPACE) else key
        for key in (triple.subject_key, triple.relation_key, triple.object_key)
    )
    return replace(triple, subject_key=subject, relation_key=relation, object_key=object_)


def _held(graph: Graph, found: Sequence[ExtractedTriple]) -> list[bool]:
    """The triples that the graph has too: the same property with the same subject and object."""
    triples = TripleReader(graph.tables)

    def there(each: ExtractedTriple) -> bool:
        if not (each.subject_key and each.relation_key):
            return False
        values = {value for _, _, value in triples.with_subject(each.subject_key, each.relation_key)}
        return bool(values & {each.object_key, each.object})

    return [there(each) for each in found]


def publish_triples(
    home: Path, version: str, triples: Sequence[ExtractedTriple], condensed: Mapping[str, str] | None = None
) -> str:
    """Publish the triples as the layer of a version, replacing an earlier one; returns its id. `condensed` has the
    relations that are read as another one. Raises ConfigError if the version is no longer the current one."""
    with exclusive_writer(home):
        present = versions.read_pointer(home)
        if present is None or present.version != version:
            raise ConfigError(f"Graph {home.name!r} has changed meanwhile. Run the command again.")
        layers = new_version_id(datetime.now(UTC), sha256(version.encode()).hexdigest())
        with build_folder(home, versions.layers_folder(home, layers), Servers()) as folder:
            with report_write_errors(home):
                write_layer(folder / versions.EXTRACTED, triples, condensed or {})
            publish_layers(home, folder, layers)
        return layers


def remove_layers(home: Path) -> bool:
    """Remove the extracted layers of a graph; returns whether it had any."""
    with exclusive_writer(home):
        present = versions.read_pointer(home)
        if present is None or not present.layers:
            return False
        switch_version(home, replace(present, layers=""))
        with report_write_errors(home):
            versions.remove_unused_versions(home, Servers().remove_parts)
        return True


# sentences that a model is shown at once (given: a small model makes more mistakes with more)
BATCH = 8

MODEL = "model"


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
    return Result(await run_in_thread(lambda: tuple(link_statements(claims, lexicon))))


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


@dataclass
class DocumentNames:
    """Resolves the names of one document in its order: names of the graph, and short forms used after the full name."""

    lexicon: Lexicon
    short_forms: dict[str, str] = field(default_factory=dict)

    def resolve(self, text: str) -> tuple[str, float]:
        """The IRI that a name refers to ("" if none) and its confidence. Titles and nouns for its class before a name
        are ignored. The last word of a name is enough once the document has used the full name."""
        words = text.split()
        for start in range(len(words)):
            if start and not (words[start - 1].endswith(".") or self._is_class(words[start - 1])):
                break
            iri, confidence = self._exact(" ".join(words[start:]))
            if iri:
                return iri, confidence
        return self.short_forms.get(text.casefold(), ""), 1.0

    def _is_class(self, word: str) -> bool:
        return any(name.kind in ("class", "group") for name in self.lexicon.exact(name_tokens(word)))

    def _exact(self, text: str) -> tuple[str, float]:
        things = [name for name in self.lexicon.exact(name_tokens(text)) if name.kind == "entity"]
        weights: dict[str, float] = {}
        for name in things:
            weights[name.target] = max(weights.get(name.target, 0.0), name.weight + 2)
        if not weights:
            return "", 1.0
        best = max(sorted(weights), key=lambda target: weights[target])
        return best, weights[best] / sum(weights.values())

    def record(self, text: str, iri: str) -> None:
        """Record the last word of a name as its short form, unless another name ends in it."""
        last = text.split()[-1].casefold() if len(text.split()) > 1 else ""
        if last and iri:
            self.short_forms[last] = iri if self.short_forms.get(last, iri) == iri else ""

    def property_of(self, relation: str) -> str:
        """The property of the graph with the name of a relation; "" if there are none or several."""
        forms = {name_tokens(relation), tuple(lemma(word) for word in name_tokens(relation))}
        properties = {
            name.target
            for form in forms
            for name in (*self.lexicon.exact(form), *self.lexicon.inflected(form))
            if name.kind == "predicate"
        }
        return next(iter(properties)) if len(properties) == 1 else ""

    def class_labels(self, key: str) -> frozenset[str]:
        """The labels of the classes of a thing, in small letters."""
        thing = self.lexicon.thing(key) if key else None
        if thing is None:
            return frozenset()
        kinds = {c for g in self.lexicon.schema.groups if g.relation == thing.relation for c in g.classes}
        return frozenset(c.label.lower() for c in self.lexicon.schema.classes if c.iri in kinds)


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


CONFIDENCE_FILE = Path(__file__).parent / "confidence.json"

# share of the prominence of all things with a name that one of them must have (given)
MIN_NAME_CONFIDENCE = 0.5

# triples of patterns with a lower confidence are only shown: they give no values and do not complete the schema (given)
MIN_STATEMENT_CONFIDENCE = 0.5

# words of a title in which names are looked up
MAX_TITLE_WORDS = 12


def link_statements(sentences: Sequence[SourceSentence], lexicon: Lexicon) -> Iterator[ExtractedTriple]:
    """The triples that the sentences of one document state, in their order."""
    names = DocumentNames(lexicon)
    title, topic = "", ""
    for sentence in sentences:
        if sentence.title != title:
            title, topic = sentence.title, passage_topic(sentence.title, names)
        key, _ = names.resolve(topic)
        for statement in extract_statements(sentence.text, topic, names.class_labels(key)):
            triple = resolve_statement(statement, sentence, names)
            if triple is None:
                continue
            if triple.subject_key:
                topic = triple.subject
            yield triple


def passage_topic(title: str, names: DocumentNames) -> str:
    """The topic of a passage: the thing of the graph that its title names, else the last part of the title."""
    parts = [part.strip() for part in title.split(":") if part.strip()]
    chosen = next((part for part in reversed(parts) if names.resolve(part)[0]), "")
    if not chosen and parts:
        words = [word for part in parts for word in part.replace(",", " ").split()][:MAX_TITLE_WORDS]
        spans = (
            " ".join(words[start : start + length])
            for length in range(len(words), 0, -1)
            for start in range(len(words) - length + 1)
        )
        chosen = next((span for span in spans if span[0].isupper() and names.resolve(span)[0]), parts[-1])
    names.record(chosen, names.resolve(chosen)[0])
    return chosen


def resolve_statement(
    statement: ExtractedStatement, sentence: SourceSentence, names: DocumentNames, confidence: float | None = None
) -> ExtractedTriple | None:
    """A statement with the things and the property that it names; None if a name is ambiguous."""
    subject_key, subject_confidence = names.resolve(statement.subject)
    object_key, object_confidence = (
        names.resolve(statement.object) if statement.kind in ("thing", "text") else ("", 1.0)
    )
    if min(subject_confidence, object_confidence) < MIN_NAME_CONFIDENCE or (subject_key and subject_key == object_key):
        return None
    for text, key in ((statement.subject, subject_key), (statement.object, object_key)):
        names.record(text, key)
    share = pattern_confidence(statement.pattern) if confidence is None else confidence
    return ExtractedTriple(
        _label(statement.subject, subject_key, names),
        subject_key,
        statement.relation,
        names.property_of(statement.relation),
        _label(statement.object, object_key, names),
        object_key,
        "thing" if object_key else statement.kind,
        round(share * subject_confidence * object_confidence, 3),
        statement.pattern,
        "rules" if confidence is None else "model",
        sentence,
    )


def pattern_confidence(pattern: str) -> float:
    """The share of correct statements of a pattern, with add-one smoothing.

    A pattern without judged statements has the share of the pattern that it extends, else of all patterns.

    >>> pattern_confidence("copula") > pattern_confidence("phrase+noun")
    True
    """
    counts = pattern_counts()
    right, judged = counts.get(pattern) or counts.get(pattern.partition("+")[0]) or counts[""]
    return round((right + 1) / (judged + 2), 3)


@cache
def pattern_counts() -> Mapping[str, tuple[int, int]]:
    """(correct, judged) statements by pattern, "" for all: of 25 pages of prose about cars, judged by hand."""
    data: dict[str, list[int]] = json.loads(CONFIDENCE_FILE.read_text(encoding="utf-8"))
    counts = {pattern: (right, judged) for pattern, (right, judged) in data.items()}
    return {**counts, "": (sum(r for r, _ in counts.values()), sum(n for _, n in counts.values()))}


def _label(text: str, key: str, names: DocumentNames) -> str:
    thing = names.lexicon.thing(key) if key else None
    return thing.label if thing is not None else text


def write_layer(path: Path, triples: Iterable[ExtractedTriple], condensed: Mapping[str, str]) -> None:
    """Write a new file."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(f"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; {DDL} BEGIN")
        for each in triples:
            claim = each.claim
            place = (claim.document, claim.start, claim.end)
            connection.execute(
                "INSERT OR IGNORE INTO sentence (text, document, first, last, title) VALUES (?, ?, ?, ?, ?)",
                (claim.text, *place, claim.title),
            )
            found = connection.execute("SELECT n FROM sentence WHERE (document, first, last) = (?, ?, ?)", place)
            (sentence,) = found.fetchone()
            row = (
                each.subject, each.subject_key, normalise_name(each.subject), each.relation, each.relation_key,
                each.object, each.object_key, normalise_name(each.object), each.kind, each.confidence, each.pattern,
                each.by, sentence,
            )  # fmt: skip
            connection.execute(f"INSERT INTO triple VALUES (NULL, {','.join('?' * len(row))})", row)
        connection.executemany("INSERT INTO condensed VALUES (?, ?)", sorted(condensed.items()))
        connection.execute("COMMIT")
