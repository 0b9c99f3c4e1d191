"""Join facts of a graph and sentences of texts: a question that needs both -> the thing it describes, and the answer.

A phrase that describes a thing ("the ship that has a library", "the longest ship") is answered by the texts or by the
graph; the question with the thing's name in the place of the phrase is then answered by the other. The phrases of a
question: question + Lexicon -> DescriptivePhrases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, NamedTuple

from agents.answering.select_answer import DECLINED, calibrate_rows, is_empty, row_probability
from agents.turn_view import TurnView
from nacre.access.open_graph import lexicon_for
from nacre.extensions.texts.answer import rank_span_candidates, span_candidates
from nacre.extensions.texts.spans import Span, expect_described_thing
from nacre.language.data import WORDS, word_list
from nacre.language.small_talk import strip_courtesy
from nacre.language.thesaurus import function_words, gradable_adjective
from nacre.language.tokens import Token, name_tokens, tokenize
from nacre.records.evidence import BranchResult, Evidence, EvidenceSentence, JoinedTexts, Query, Rows
from nacre.records.turn import Rewrite, Understanding
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.ranking.probabilities import MAX_READINGS_RUN
from nacre.understanding.understand import understand
from tools import sql
from tools.search_passages import LEXICAL, retrieve_sentences

if TYPE_CHECKING:
    from nacre.stores.catalog import Graph

MOST_PHRASES = 3  # descriptive phrases of a question that are tried


def may_join(view: TurnView, graph: Graph) -> bool:
    """Whether there are texts and facts, and no reading accounts for the whole question."""
    if graph.documents is None or not graph.documents.count or graph.lexical is None or not graph.schema.classes:
        return False
    if view.rewrite.chosen is not None:
        return False
    return not _is_accounted(view.understanding)


def join_texts(understanding: Understanding, graph: Graph, *, round: int, limit: int) -> BranchResult:
    """Rows that rest on a sentence, and sentences that rest on rows; the `JoinedTexts` of each names its basis."""
    names = lexicon_for(graph, understanding.standalone)
    evidence: list[Evidence] = []
    queries: list[Query] = []
    for phrase in find_descriptive_phrases(understanding.standalone, names)[:MOST_PHRASES]:
        for found in (
            _identify_by_text(phrase, graph, names, round, limit),
            _identify_by_graph(phrase, graph, names, round, limit),
        ):
            evidence += found.evidence
            queries += found.queries
    return BranchResult(sql.BRANCH, tuple(evidence), tuple(queries))


def _identify_by_text(phrase: DescriptivePhrase, graph: Graph, names: Lexicon, round: int, limit: int) -> BranchResult:
    """The texts identify the described thing, the graph answers."""
    result = _search(phrase.question, graph, round, limit)
    sentences = [each for each in result.evidence if isinstance(each, EvidenceSentence) and each.document is not None]
    spans = [list(_thing_spans(each, phrase, names)) for each in sentences]
    # the graph knows the class of a thing, so a sentence need not state it
    clause = phrase.clause if phrase.relations else phrase.question.removeprefix("which ")
    # the spans ranked by whether the clause is true of them
    ranked = rank_span_candidates(*span_candidates(expect_described_thing(clause), sentences, spans))
    answer = next(iter(ranked), None)
    if answer is None or answer.probability < DECLINED:
        return BranchResult(sql.BRANCH)
    thing = names.thing(str(answer.value))
    label = thing.label if thing is not None else ""
    rows, queries = _rows(phrase.asking(label), graph, names, round, about=str(answer.value))
    if rows is None or not label:
        return BranchResult(sql.BRANCH)
    join = JoinedTexts(phrase.asking(label), label, round_probability(answer.probability))
    probability = round_probability((rows.probability or 0.0) * answer.probability)
    basis = replace(sentences[answer.sentence], joined=replace(join, basis=True))
    return BranchResult(sql.BRANCH, (replace(rows, probability=probability, joined=join), basis), queries)


def _identify_by_graph(phrase: DescriptivePhrase, graph: Graph, names: Lexicon, round: int, limit: int) -> BranchResult:
    """The graph identifies the described thing, the texts answer."""
    rows, queries = _rows(phrase.question, graph, names, round)
    things = list(dict.fromkeys(key for row in rows.table.keys for key in row[:1])) if rows is not None else []
    if rows is None or len(things) != 1 or (thing := names.thing(things[0])) is None:
        return BranchResult(sql.BRANCH)
    if phrase.relations and thing.relation not in phrase.relations:
        return BranchResult(sql.BRANCH)
    question = phrase.asking(thing.label)
    join = JoinedTexts(question, thing.label, round_probability(rows.probability or 0.0))
    result = _search(question, graph, round, limit)
    sentences = [
        replace(each, joined=join)
        for each in result.evidence
        if isinstance(each, EvidenceSentence) and each.document is not None
    ]
    if not sentences:
        return BranchResult(sql.BRANCH)
    basis = replace(rows, joined=replace(join, basis=True))
    return BranchResult(sql.BRANCH, (basis, *sentences), queries)


def round_probability(value: float) -> float:
    """A probability with the precision of records."""
    return round(value, 4)


def _search(text: str, graph: Graph, round: int, limit: int) -> BranchResult:
    if graph.lexical is None or graph.passages is None:
        return BranchResult(LEXICAL)
    return retrieve_sentences(
        LEXICAL, graph.lexical, graph.passages, text, text, round=round, limit=limit, documents=graph.documents
    )


def _rows(
    question: str, graph: Graph, names: Lexicon, round: int, about: str = ""
) -> tuple[Rows | None, tuple[Query, ...]]:
    """The likeliest rows of a question, without the index of their reading; None if the graph accounts neither for the
    whole question nor for the thing that it is `about`."""
    understanding = understand(Rewrite(question), graph.schema, names)
    is_about = bool(about) and any(mention.target == about for mention in understanding.mentions)
    if not is_about and not _is_accounted(understanding):
        return None, ()
    results = sql.run_readings(understanding.readings[:MAX_READINGS_RUN], graph.tables, round=round)
    candidates = [
        rows for each in calibrate_rows(understanding, results) for rows in each.rows if not is_empty(rows.table)
    ]
    best = max(candidates, key=lambda rows: row_probability(understanding, rows), default=None)
    if best is None or best.reading is None or (understanding.readings[best.reading].unused and not is_about):
        return None, ()
    plan = understanding.readings[best.reading].plan
    queries = (best.query, *best.beside) if best.query is not None else best.beside
    return replace(best, reading=None, plan=plan, probability=row_probability(understanding, best)), queries


def _is_accounted(understanding: Understanding) -> bool:
    """Whether the best reading leaves no word out and nothing is unknown."""
    return bool(understanding.readings) and not understanding.readings[0].unused and not understanding.unknown


def _thing_spans(sentence: EvidenceSentence, phrase: DescriptivePhrase, names: Lexicon) -> Iterator[Span]:
    """The spans of a sentence that name things which may be the described one, with their IRIs as values."""
    words = tokenize(sentence.text)
    for iri in sentence.keys[1:]:
        thing = names.thing(iri)
        if thing is None or (phrase.relations and thing.relation not in phrase.relations):
            continue
        label = name_tokens(thing.label)
        for i in range(len(words) - len(label) + 1):
            if tuple(token.norm for token in words[i : i + len(label)]) == label:
                yield Span(words[i].start, words[i + len(label) - 1].end, "thing", iri)
                break


# what the branch `sql` asks this extension for
JOINER = SimpleNamespace(may_join=may_join, join_texts=join_texts)


MAX_NOUN_WORDS = 4  # how many words a noun may have

_END = re.compile(r"(?<![\s?.!])[\s?.!]*+$")


class DescriptivePhrase(NamedTuple):
    """A phrase that describes a thing.

    `question` asks which thing it is ("which ship has a library"), `clause` says what is true of it. `before`,
    `between` and `after` are the words of the turn's question around the phrase. `relations` are the tables of its
    class, empty if it names none.
    """

    question: str
    clause: str
    before: str
    between: str
    after: str
    relations: frozenset[str]

    def asking(self, label: str) -> str:
        """Return the turn's question with a name in the place of the phrase.

        >>> phrase = DescriptivePhrase("which ship has a bar", "has a bar", "Who steers", "", "?", frozenset())
        >>> phrase.asking("Hebe")
        'Who steers Hebe?'
        """
        return " ".join(f"{self.before} {label} {self.between}".split()) + (self.after or "?")


class _Noun(NamedTuple):
    """A noun with its article: the first and the last token, and the tables of its class."""

    start: int
    end: int
    relations: frozenset[str] = frozenset()


def find_descriptive_phrases(question: str, lexicon: Lexicon) -> list[DescriptivePhrase]:
    """Return phrases with a clause, then superlatives: "the ship that has a library", "the longest ship". Other words
    may stand between the noun and its clause."""
    text = strip_courtesy(question).strip()
    tokens = tokenize(text)
    return [*_clauses(text, tokens, lexicon), *_superlatives(text, tokens, lexicon)]


def _clauses(text: str, tokens: Sequence[Token], lexicon: Lexicon) -> Iterator[DescriptivePhrase]:
    relatives = word_list("words", "describing_relatives")
    prepositions = word_list("words", "describing_prepositions")
    for at in range(2, len(tokens) - 1):
        if tokens[at].norm not in relatives:
            continue
        # "in which", "of whom"
        start = at - 1 if tokens[at - 1].norm in prepositions else at
        noun = _noun_before(tokens, start, lexicon)
        if noun is None:
            continue
        clause = _clause(text, tokens, at)
        phrase = text[tokens[noun.start + 1].start : tokens[noun.end].end]
        before = text[: tokens[noun.start].start].strip()
        between = text[tokens[noun.end].end : tokens[start].start].strip()
        yield DescriptivePhrase(f"which {phrase} {clause}?", clause, before, between, "?", noun.relations)


def _clause(text: str, tokens: Sequence[Token], at: int) -> str:
    """The clause as it follows "which ship": without its relative pronoun, and without who says it."""
    end = _END.search(text)
    stop = end.start() if end else len(text)
    rest = text[tokens[at].end : stop].strip()
    after = tokens[at + 1 :]
    # "that the notes call", "which the guide describes as"
    for i, token in enumerate(after[:4]):
        if i and token.lemma in word_list("words", "describing_verbs"):
            return rest[after[i].end - after[0].start :].strip()
    is_dropped = tokens[at].norm in word_list("question", "dropped_relatives")
    return rest if is_dropped else text[tokens[at].start : stop]


def _superlatives(text: str, tokens: Sequence[Token], lexicon: Lexicon) -> Iterator[DescriptivePhrase]:
    for i, token in enumerate(tokens):
        adjective = gradable_adjective(token)
        if adjective is None or adjective.degree != "superlative" or i == 0 or i + 1 >= len(tokens):
            continue
        noun = _noun_after(tokens, i, len(tokens), lexicon) if tokens[i - 1].norm == "the" else None
        if noun is not None:
            phrase = text[tokens[i].start : tokens[noun.end].end]
            before, after = text[: tokens[i - 1].start].strip(), text[tokens[noun.end].end :].strip(" ?.!")
            yield DescriptivePhrase(f"which is the {phrase}?", phrase, before, after, "?", noun.relations)


def _noun_before(tokens: Sequence[Token], end: int, lexicon: Lexicon) -> _Noun | None:
    """The last "the ship" before a token; a noun that names a class goes before others."""
    articles = frozenset({"the"}) | WORDS["article"]
    unknown = None
    for i in range(end - 2, -1, -1):
        if tokens[i].norm not in articles:
            continue
        noun = _noun_after(tokens, i, end, lexicon)
        if noun is not None:
            return noun
        if unknown is None and i == end - 2 and tokens[i + 1].norm not in function_words():
            unknown = _Noun(i, i + 1)
    return unknown


def _noun_after(tokens: Sequence[Token], at: int, end: int, lexicon: Lexicon) -> _Noun | None:
    """The longest name of a class right after a token."""
    for size in range(min(MAX_NOUN_WORDS, end - at - 1), 0, -1):
        # the tables of the things that a noun names; none if it names no class
        noun = tokens[at + 1 : at + 1 + size]
        norms, lemmas = [token.norm for token in noun], [token.lemma for token in noun]
        names = [*lexicon.exact(norms), *lexicon.inflected(lemmas), *(lexicon.exact(lemmas) if norms != lemmas else ())]
        classes = {name.target for name in names if name.kind == "class"}
        tables = frozenset(name.relation for name in names if name.kind == "group")
        relations = tables.union(*(lexicon.schema.groups_of_class.get(iri, ()) for iri in classes))
        if relations:
            return _Noun(at, at + size, relations)
    return None
