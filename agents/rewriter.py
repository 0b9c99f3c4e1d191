"""Make a question stand alone, in English: TurnView -> Rewrite, by rules."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import date

from agents.turn_view import Database, Result, TurnView
from nacre.language.small_talk import orientation_language
from nacre.language.translation import GLOSSED_LANGUAGES
from nacre.language.values import resolve_relative_times
from nacre.records.threads import run_in_thread
from nacre.records.turn import Rewrite
from nacre.understanding.dialogue.rewrite import chosen_reading, orientation_intent, rewrite_question
from nacre.understanding.glossing import gloss_question, glossed_lexicon, question_language
from nacre.understanding.linking.link_mentions import linker_of

Rewriter = Callable[[TurnView, Database], Awaitable[Result[Rewrite]]]


async def by_rules(view: TurnView, database: Database) -> Result[Rewrite]:
    """The rewrite by the rules of `nacre.understanding.dialogue`, which read English and glosses of other languages."""
    rewrite = await run_in_thread(_rewrite, view, database)
    # "only the top five" of a chart is one as well
    earlier = view.conversation[-1].display if view.conversation and rewrite.depends else ""
    return Result(replace(rewrite, display=rewrite.display or earlier))


def _rewrite(view: TurnView, database: Database) -> Rewrite:
    """The rewrite with the language of the question; a question in a language with a dictionary is glossed first."""
    question, lexicon = resolve_relative_times(view.question, date.today()), database.lexicon
    # short texts such as "danke" have few function words
    near = orientation_language(question)
    if near in GLOSSED_LANGUAGES:
        intent = orientation_intent(question, linker_of(lexicon), is_follow_up=bool(view.conversation))
        if intent and intent != "nonsense":
            return Rewrite(question, orientation=intent, language=near, own=question, gloss=near)
    if (choice := chosen_reading(question, view.conversation)) is not None:
        # the words of an offered reading are in the language of the turn that offered it, whatever names they contain
        code = question_language(view.conversation[-1].question, lexicon)
        return replace(choice, language=code, own=question, gloss=code) if code in GLOSSED_LANGUAGES else choice
    code = question_language(question, lexicon)
    if code not in GLOSSED_LANGUAGES:
        rewritten = rewrite_question(question, view.conversation, database.schema, lexicon)
        # the words of an offered reading are English whatever names they contain
        return rewritten if rewritten.chosen is not None else replace(rewritten, language=code)
    glossed = resolve_relative_times(gloss_question(question, lexicon, code), date.today())
    rewritten = rewrite_question(glossed, view.conversation, database.schema, glossed_lexicon(lexicon, code))
    return replace(rewritten, language=code, own=question, gloss=code)
