"""Answer with sentences: Understanding + evidence -> AnswerDraft of a description, of the graph as a whole, or of the
best sentences; or None."""

from collections.abc import Sequence

from agents.answering.answer_draft import AnswerDraft, CitedSentence
from agents.answering.selection.rows import candidate_rows, indexed_sentences, is_empty, unplanned_rows
from agents.answering.selection.word_cover import content_words, is_covered_by
from nacre.language.forms.nouns import join_names
from nacre.language.orientation import intents, lead
from nacre.language.rank_sentences import rank_sentences
from nacre.records.evidence import Evidence, EvidenceSentence
from nacre.records.schema import Schema
from nacre.records.turn import Understanding
from nacre.wording.answers.answer import verbalise_rows
from nacre.wording.descriptions.comparison_sentences import single_property_sentence, summarise_difference
from nacre.wording.descriptions.thing import MAX_DESCRIPTION_SENTENCES
from nacre.wording.overview.kinds import MAX_SUBJECTS, kinds_sentence, subjects
from nacre.wording.overview.overview import EXAMPLES

# branches that describe things by their facts
QUERYING = ("sql", "sparql")
PROSE_WORDS = 150
LOOKUP_WORDS = 35

# a sentence, with its index in the evidence
IndexedSentence = tuple[int, EvidenceSentence]


def draft_description(understanding: Understanding, evidence: Sequence[Evidence]) -> AnswerDraft | None:
    """The rows that a model gathered, else a comparison as a table, else the best sentences.

    Sentences about one thing come together, those of a profile before those of texts; at most six, and 150 words.
    """
    gathered = tuple(
        (verbalise_rows(rows.table).text, (i,))
        for i, rows in unplanned_rows(evidence)
        if rows.query is not None and not is_empty(rows.table)
    )
    if gathered:
        return AnswerDraft(gathered, "answered")
    comparison = next((found for found in candidate_rows(evidence) if found[1].query is None), None)
    if comparison is not None:
        index, rows = comparison
        shown = verbalise_rows(rows.table, summarise_difference(rows.table, rows.title))
        text = single_property_sentence(rows.table) or shown.text
        return AnswerDraft(((text, (index,)),), "answered", columns=shown.columns, rows=shown.rows)
    sentences = indexed_sentences(evidence)
    profile = [found for found in sentences if found[1].branch in QUERYING]
    # what the turn before said is said again only if this one found nothing
    profile = [found for found in profile if found[1].round] or profile
    # beside a profile, passages that the graph's own triples were put into would repeat its facts
    others = [(i, s) for i, s in sentences if s.branch not in QUERYING and (s.document is not None or not profile)]
    ranked = [*profile, *_ranked(understanding, others, PROSE_WORDS)]
    chosen = _within_budget(ranked, PROSE_WORDS)[:MAX_DESCRIPTION_SENTENCES]
    return _draft(chosen) if chosen else None


def draft_orientation(intent: str, evidence: Sequence[Evidence], schema: Schema) -> AnswerDraft:
    """A lead and the sentences about the graph with their evidence; one line for small talk, which cites nothing.

    If the branch that describes the graph failed, its kinds are named without evidence.
    """
    sentences: list[CitedSentence] = [(lead(intent), ())] if lead(intent) else []
    if intent == "greeting":
        nouns = [subject.many for subject in subjects(schema)[:MAX_SUBJECTS]]
        sentences.append((f"Ask me about {f'the {join_names(nouns)} in this graph' if nouns else 'this graph'}.", ()))
    if intent in intents("small_talk"):
        return AnswerDraft(tuple(sentences), "answered")
    found = [(i, each) for i, each in indexed_sentences(evidence) if each.branch in QUERYING and each.round]
    first = min((each.branch for _, each in found), key=QUERYING.index, default="")
    about_graph = [(each.text, () if each.title == EXAMPLES else (i,)) for i, each in found if each.branch == first]
    sentences += about_graph or [(kinds_sentence(schema), ())]
    if intent in intents("no_answer"):
        return AnswerDraft(tuple(sentences), "not_in_graph", reason=lead(intent))
    return AnswerDraft(tuple(sentences), "answered")


def draft_sentences(
    understanding: Understanding, evidence: Sequence[Evidence], words: Sequence[str] = ()
) -> AnswerDraft | None:
    """The best sentences of documents, if they contain most words of the question, all words unknown to the graph, and
    `words`."""
    candidates = [(i, each) for i, each in indexed_sentences(evidence) if each.document is not None]
    chosen = _within_budget(_ranked(understanding, candidates, LOOKUP_WORDS), LOOKUP_WORDS)
    if not chosen or not is_covered_by(understanding.standalone, [each for _, each in chosen]):
        return None
    covered = content_words(" ".join(f"{each.title} {each.text}" for _, each in chosen))
    if any(content_words(word) - covered for word in (*words, *(unknown for unknown, _ in understanding.unknown))):
        # a word that names nothing in the graph may still occur in a passage
        return None
    return _draft(chosen)


def _ranked(understanding: Understanding, sentences: Sequence[IndexedSentence], words: int) -> list[IndexedSentence]:
    """Those that answer the question best, the best first."""
    return [sentences[i] for i in rank_sentences(understanding.standalone, [each for _, each in sentences], words)]


def _within_budget(ranked: Sequence[IndexedSentence], words: int) -> list[IndexedSentence]:
    """The first that have at most `words` words together, no text twice; at least one."""
    chosen: list[IndexedSentence] = []
    texts: set[str] = set()
    for index, sentence in ranked:
        length = len(sentence.text.split())
        if sentence.text in texts or (chosen and length > words):
            continue
        chosen.append((index, sentence))
        texts.add(sentence.text)
        words -= length
    return chosen


def _draft(chosen: Sequence[IndexedSentence]) -> AnswerDraft:
    """The sentences, those of one title together."""
    first = {sentence.title: place for place, (_, sentence) in reversed(list(enumerate(chosen)))}
    grouped = sorted(chosen, key=lambda each: first[each[1].title])
    return AnswerDraft(tuple((sentence.text, (index,)) for index, sentence in grouped), "answered")
