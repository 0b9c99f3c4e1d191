"""The likeliest answer that sentences of documents give, as a sentence: question + evidence -> DraftFromText."""

from collections.abc import Sequence
from dataclasses import replace

from agents.answering.draft import DraftFromText
from agents.answering.select_answer import indexed_sentences
from nacre.extensions.texts.answer import TextAnswer, rank_answers, text_weights
from nacre.extensions.texts.spans import expected_answer
from nacre.language.data import word_list
from nacre.language.sanitize import quote_line
from nacre.language.thesaurus import function_words
from nacre.language.tokens import tokenize
from nacre.records.evidence import Evidence, EvidenceSentence


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
            chance = other.probability * joined.chance
            known = replace(other, evidence=(*other.evidence, *basis), probability=chance, is_reason=False)
            drafts.append(replace(known, is_sure=chance >= text_weights().threshold))
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
    is_sure, is_reason = best.probability >= text_weights().threshold, expected_answer(question).kind == "reason"
    text, place = sentence_phrase(best, sentence), (chosen[best.sentence],)
    return DraftFromText(text, place, best.value, best.unit, best.probability, is_sure, is_reason)


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
