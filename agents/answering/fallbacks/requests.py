"""What is said to a request for a deed or an opinion: TurnView -> AnswerDraft, with facts of the named things."""

from dataclasses import replace

from agents.answering.answer_draft import AnswerDraft
from agents.answering.fallbacks.nearest import draft_nearest
from agents.turn_view import TurnView
from nacre.language.courtesy import unserved_request
from nacre.language.forms.nouns import join_names
from nacre.language.orientation import lead
from nacre.language.sanitize import quote_line


def draft_unserved(view: TurnView) -> AnswerDraft | None:
    """One sentence about what this can do, then the nearest facts of the named things; None for a question."""
    request = unserved_request(view.question)
    if not request:
        return None
    understanding = view.understanding
    text = lead(request)
    facts = draft_nearest(understanding, view.evidence) if understanding.named or request == "opinion" else None
    if facts is None:
        return AnswerDraft(((text, ()),), "not_in_graph", reason=text)
    named = join_names([quote_line(each.mention.label) for each in understanding.named])
    text = f"{text} The closest that it says{f' of {named}' if named else ''}:"
    return replace(facts, sentences=((text, ()), *facts.sentences[1:]), reason=lead(request))
