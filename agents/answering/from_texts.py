"""Answers from texts: question + evidence -> the likeliest answer that a sentence of a document gives."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.answering.selection.rows import indexed_sentences, is_sure, sole_reading
from agents.answering.selection.word_cover import content_words
from nacre.language.base import word_list
from nacre.language.sanitize import quote_line
from nacre.language.thesaurus import function_words
from nacre.language.tokens import tokenize
from nacre.records.evidence import Evidence, EvidenceSentence, Rows
from nacre.records.turn import Understanding
from nacre.texts.answer import TextAnswer, rank_answers, text_weights
from nacre.texts.expected_answer import expected_answer

# rows that cover less of a question do not answer it (given)
HALF = 0.5


@dataclass(frozen=True)
class DraftFromText:
    """An answer of a text: its words, its evidence by index (the sentence first), and the answer as data.

    `is_reason`: the question asks why.
    """

    text: str
    evidence: tuple[int, ...]
    answer: TextAnswer
    is_reason: bool = False

    @property
    def probability(self) -> float:
        """The probability that the answer is right."""
        return self.answer.probability

    @property
    def is_sure(self) -> bool:
        """Whether it is likely enough to be given as the answer."""
        return self.probability >= text_weights().threshold


def best_text_answer(question: str, evidence: Sequence[Evidence]) -> DraftFromText | None:
    """The likeliest answer among the sentences of documents; None if none of them answers.

    It answers the question, or the question with a thing of the graph in the place of a phrase that describes it.
    """
    sentences = [(i, each) for i, each in indexed_sentences(evidence) if each.document is not None]
    drafts = [_answer(question, [(i, each) for i, each in sentences if each.joined is None or each.joined.basis])]
    for joined in dict.fromkeys(
        each.joined for _, each in sentences if each.joined is not None and not each.joined.basis
    ):
        basis = [i for i, each in enumerate(evidence) if each.joined == replace(joined, basis=True)]
        other = _answer(joined.question, [(i, each) for i, each in sentences if each.joined == joined])
        if other is not None:
            answer = other.answer._replace(probability=other.probability * joined.chance)
            drafts.append(DraftFromText(other.text, (*other.evidence, *basis), answer))
    return max(filter(None, drafts), key=lambda each: each.probability, default=None)


def _answer(question: str, candidates: Sequence[tuple[int, EvidenceSentence]]) -> DraftFromText | None:
    distinct = {(each.document, each.start, each.end, each.text): i for i, each in reversed(candidates)}
    chosen = sorted(distinct.values())
    sentences = [each for i, each in candidates if i in set(chosen)]
    ranked = rank_answers(question, sentences)
    if not ranked:
        return None
    best = ranked[0]
    sentence = sentences[best.sentence]
    return DraftFromText(
        sentence_phrase(best, sentence), (chosen[best.sentence],), best, expected_answer(question).kind == "reason"
    )


def is_question_for_texts(understanding: Understanding, used: Rows, evidence: Sequence[Evidence]) -> bool:
    """Whether the answer must be in texts: the rows are not sure and cover less than half of the question, and the
    texts contain at least half of the words that the graph does not know."""
    reading = sole_reading(understanding, used)
    if reading is None or is_sure(understanding, used) or not understanding.unknown:
        return False
    text_words = content_words(
        " ".join(each.text for _, each in indexed_sentences(evidence) if each.document is not None)
    )
    in_texts = sum(content_words(word) <= text_words for word, _ in understanding.unknown)
    return reading.covered < HALF and in_texts >= HALF * len(understanding.unknown)


def sentence_phrase(answer: TextAnswer, sentence: EvidenceSentence) -> str:
    """The sentence; before it the answer if the sentence has it in another form, or its title if it starts with a
    pronoun.

    >>> sentence = EvidenceSentence("lexical", 1, "It slides by 13 centimetres.", "The bench")
    >>> sentence_phrase(TextAnswer(13, "cm", 0, 13, 27, 0.9), sentence)
    '13 cm: The bench: It slides by 13 centimetres.'
    """
    text = quote_line(sentence.text)
    first = next(iter(tokenize(text)), None)
    if (
        sentence.title
        and first is not None
        and first.norm in function_words()
        and first.norm in word_list("answering", "title_pronouns")
    ):
        text = f"{quote_line(sentence.title)}: {text}"
    if isinstance(answer.value, bool):
        return f"{'Yes' if answer.value else 'No'}: {text}"
    wording = sentence.text[answer.start : answer.end]
    if answer.unit and isinstance(answer.value, int | float) and answer.unit not in wording and _is_word(wording):
        return f"{answer.value:,} {answer.unit}: {text}"
    return text


def _is_word(wording: str) -> bool:
    """Whether a unit is written as a word: "13 centimetres"."""
    return any(len(token.text) > 3 and token.text.isalpha() for token in tokenize(wording))
