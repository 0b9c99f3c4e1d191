"""Answer a turn that asks nothing of the data: intent + evidence -> AnswerDraft that says what is here."""

from collections.abc import Sequence

from agents.answering.answer_draft import AnswerDraft, CitedSentence
from agents.answering.draft_sentences import QUERYING
from agents.answering.select_answer import indexed_sentences
from nacre.language.forms.nouns import join_names
from nacre.language.orientation import intents, lead
from nacre.records.evidence import Evidence
from nacre.records.schema import Schema
from nacre.wording.overview.kinds import MAX_SUBJECTS, kinds_sentence, subjects
from nacre.wording.overview.overview import EXAMPLES


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
