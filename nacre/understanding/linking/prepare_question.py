"""Analyse a question with the names of one graph in mind: text -> Question, spelling corrected and courtesy removed."""

from nacre.language.courtesy import reason_end, strip_courtesy
from nacre.language.tokens import tokenize
from nacre.understanding.linking.linker import Linker
from nacre.understanding.linking.schema.wide_words import names_union
from nacre.understanding.question.analyse import analyse_question
from nacre.understanding.question.types import Question


def prepare_question(text: str, linker: Linker) -> Question:
    """The analysed question. Character offsets stay those of the text.

    A leading reason ("I am planning a trip, ...") is blanked out if it names nothing of the graph. A function word
    carries meaning if a name of the graph contains it: "found" where a property is called "found at".
    """
    text = strip_courtesy(text)
    end = reason_end(text)
    if end and not linker.link(tokenize(text[:end])):
        text = " " * end + text[end:]
    question = analyse_question(linker.spelling.correct(text))
    meaningful, words = linker.index.schema_linker.meaningful_lemmas, question.tokens
    return question._replace(
        stopwords=frozenset(
            i
            for i in question.stopwords
            if words[i].norm == words[i].lemma or words[i].lemma not in meaningful
            if not names_union(question, i, linker.index.graph)
        )
    )
