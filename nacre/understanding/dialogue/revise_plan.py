"""Turns that correct or change the plan before them: question + earlier turns -> Rewrite with the change."""

import re
from collections.abc import Sequence
from dataclasses import replace

from nacre.language.data import WORDS, pattern, word_map
from nacre.language.thesaurus import gradable_adjective
from nacre.language.tokens import Token, tokenize
from nacre.language.values import Period, find_periods, year_bounds
from nacre.plans.selects import variable_of
from nacre.records.plan import Attribute, Filter, Itself, Plan, Select
from nacre.records.turn import EarlierTurn, Rewrite, Scope
from nacre.understanding.dialogue import ellipsis, plan_edits
from nacre.understanding.dialogue.focus import focus, requested_nodes
from nacre.understanding.dialogue.follow_up import change_kind
from nacre.understanding.dialogue.references import FollowUpTurn, find_pronoun, mentioned_classes, mentioned_things
from nacre.understanding.linking.link_mentions import Linker, prepare_question
from nacre.understanding.linking.name_candidates import NameCandidate
from nacre.understanding.question.analyse import analyse_question
from nacre.understanding.question.records import RANKING_CUES
from nacre.wording.nouns import class_noun
from nacre.wording.plan_phrases import verbalise_plan

MAX_CORRECTION_LENGTH = 200  # Characters, which bound the time of its patterns (given).
MAX_CORRECTION_TOKENS = 8  # A longer turn that begins with "no" or "sorry" is a question of its own (given).

_NUMBER = re.compile(r"[0-9][0-9.,]*")


def parse_correction(question: str) -> tuple[str, bool] | None:
    """The corrected phrase, and whether the turn is certainly a correction. None if it is not one.

    >>> parse_correction("no, I meant Lisbon"), parse_correction("no, not Porto but Lisbon")
    (('Lisbon', True), ('Lisbon', True))
    """
    if len(question) > MAX_CORRECTION_LENGTH or len(tokenize(question)) > MAX_CORRECTION_TOKENS:
        return None
    lead = pattern("dialogue", "correction").match(question)
    end = pattern("dialogue", "correction_after").search(question)
    if lead is None and end is None:
        return None
    phrase = question[lead.end() if lead else 0 : end.start() if end else len(question)].strip()
    contrast = pattern("dialogue", "contrast").match(phrase)
    if contrast is not None:
        phrase = contrast["new"] or contrast["named"]
    if not phrase:
        return None
    return phrase, end is not None or bool(lead and lead["clear"])


def correct_last_question(turn: FollowUpTurn) -> Rewrite | None:
    """The last question about another thing, value or class, or for another property or bound. None if the corrected
    phrase, which the turn asks, is a question of its own."""
    phrase, words = turn.question, turn.words
    if any(t.norm in WORDS["question_words"] for t in words):
        return None
    substituted = _substitute(turn) if words else None
    if substituted is not None:
        return substituted
    if pattern("dialogue", "bounding").match(phrase.casefold()):
        return bound_earlier_things(turn)
    if not _is_fully_linked(words, turn.linker) and not any(gradable_adjective(t) for t in words):
        return _substitute_unknown(phrase, turn.last, turn.linker)
    how = change_kind(f"{word_map('dialogue', 'standalone')['and']} {phrase}", turn.last)
    changed = change_earlier_plan(turn, how) if how else None
    return change_earlier_plan(turn, "correct") if changed is None and not turn.things else changed


def _substitute(turn: FollowUpTurn) -> Rewrite | None:
    """The last question with the thing, value, class, time or number of the phrase in place of one of its kind."""
    return (
        substitute_in_plan(turn)
        or (ellipsis.substitute_thing(turn) if turn.things and ellipsis.is_elliptic(turn) else None)
        or ellipsis.substitute_value(turn, instead=True)
        or _substitute_number(turn.question, turn.last)
        or _replace_unknown(turn)
        or substitute_in_plan(turn, always=True)
    )


def _substitute_number(phrase: str, last: EarlierTurn) -> Rewrite | None:
    """The last question with its only number replaced by the phrase, if that is a number."""
    numbers = list(_NUMBER.finditer(last.standalone))
    if not _NUMBER.fullmatch(phrase) or len(numbers) != 1 or not ellipsis.is_standalone(last):
        return None
    start, end = numbers[0].span()
    return Rewrite(last.standalone[:start] + phrase + last.standalone[end:], True)


def _replace_unknown(turn: FollowUpTurn) -> Rewrite | None:
    """The last question with its unknown name replaced by a phrase that is known."""
    last, linker, old = turn.last, turn.linker, tokenize(turn.last.standalone)
    linked = {i for c in linker.link(old) for i in c.covered}
    names = [i for i, t in enumerate(old) if t.start > 0 and t.text[:1].isupper()]
    unknown = [i for i in names if i not in linked and old[i].norm not in linker.stopwords]
    is_one_name = unknown and unknown[-1] - unknown[0] + 1 == len(unknown)
    if not is_one_name or not _is_fully_linked(turn.words, linker) or not ellipsis.is_standalone(last):
        return None
    return _replace_words(last, old, unknown[0], unknown[-1] + 1, turn.question)


def _substitute_unknown(phrase: str, last: EarlierTurn, linker: Linker) -> Rewrite | None:
    """The last question with its only name or value replaced by a phrase that the answer reports as unknown."""
    words = tokenize(last.standalone)
    links = linker.link(words)
    labels = {(c.start, c.end) for c in links if c.kind in ("class", "predicate") and c.exact}
    values = [c for c in links if c.kind == "value" and c.exact]
    names = {(c.start, c.end) for c in (*mentioned_things(linker, words), *values)} - labels
    longest = [s for s in names if not any(a <= s[0] and s[1] <= b and (a, b) != s for a, b in names)]
    if len(longest) != 1 or not ellipsis.is_standalone(last):
        return None
    return _replace_words(last, words, *longest[0], phrase)


def _is_fully_linked(words: Sequence[Token], linker: Linker) -> bool:
    """Whether each content word names something of the graph."""
    linked = {i for c in linker.link(words) for i in c.covered}
    return all(i in linked or t.norm in linker.stopwords for i, t in enumerate(words))


def _replace_words(last: EarlierTurn, words: Sequence[Token], start: int, end: int, phrase: str) -> Rewrite:
    """The last question with a span of words replaced. An article or preposition before it is not repeated."""
    new = tokenize(phrase)
    while start and new and words[start - 1].norm == new[0].norm:
        phrase = phrase[new[0].end :].strip()
        new = tokenize(phrase)
    text = last.standalone
    return Rewrite(text[: words[start].start] + phrase + text[words[end - 1].end :], True)


_CONDITION_CUES = frozenset(("compare", "most", "negation", "both"))  # Kinds of cues that restrict things.


def change_earlier_plan(turn: FollowUpTurn, how: str = "") -> Rewrite | None:
    """ "Sort them by age": the question with the plan before it in its scope, and how to change that. Without `how` the
    question says it. None if the question changes nothing, or asks something new."""
    question, _, _, _, earlier, linker = turn
    last, body = turn.last, turn.last_body
    how = how or change_kind(question, last)
    if body is not None and how == "opposite":
        body = plan_edits.tested_select(body)
    if not how or not isinstance(body, Select) or _asks_anew(turn, body, how):
        return None
    if how == "restrict" and pattern("dialogue", "shows").match(question.casefold()):
        # "show the ones over 20" after "how many are there?"
        body = plan_edits.list_plan(body) or body
    plan = Plan(plan_edits.inline_earlier_plans(body, earlier[:-1]))
    try:
        about = verbalise_plan(plan, linker.lexicon.schema)
    except KeyError:
        # The graph no longer has what the plan is about.
        return None
    meant = focus(earlier[-1:], True, linker)
    pronoun = find_pronoun(turn.words, ()) if len(meant.keys) > 1 else None
    if pronoun is not None:
        requested = requested_nodes(turn.words, pronoun, linker)
        if focus(earlier, True, linker, requested).keys != meant.keys:
            # things from before the last list: "which of them is the heaviest"
            return None
    confidence = 1.0 if last.confidence is None else last.confidence
    if not meant.keys or (how == "opposite" and body.limit):
        # the others are not the best of them
        meant = Scope(keys=last.keys, labels=last.labels)
    scope = Scope(plan, meant.keys, meant.labels, how, confidence)
    if lead := pattern("dialogue", "only_lead").match(question.casefold()) if how == "restrict" else None:
        # "only for flats with a bath" restricts the earlier things, and says of the baths nothing
        question = question[: lead.start("only")] + question[lead.end("only") :]
    # For people. The parser reads the question, and the plan in the scope.
    note = f"{ellipsis.SCOPE_OPENING}{about})" if about and not set(about) & set("()") else ""
    end = len(question.rstrip(" ?.!"))
    return Rewrite(question[:1].upper() + question[1:end] + note + question[end:], True, scope)


def bound_earlier_things(turn: FollowUpTurn) -> Rewrite | None:
    """A bound alone, "more than 20", on the things that were given before."""
    those = word_map("dialogue", "standalone")["those"]
    return change_earlier_plan(turn.asking(f"{those} {turn.question}"), "restrict")


def best_by_other_measure(turn: FollowUpTurn) -> Rewrite | None:
    """ "What about the one with the highest price?" after the best by something else: the best of the same things."""
    body = turn.last_body
    found = pattern("dialogue", "placed_one").match(" ".join(t.norm for t in turn.words))
    if found is None or not isinstance(body, Select) or body.limit != 1 or body.order is None:
        return None
    name = variable_of(body.order.by)
    things = next((v for v in body.variables if v.name == name), None)
    if things is None or not any(c.kind in RANKING_CUES for c in analyse_question(found[0]).cues):
        return None
    noun = class_noun(things, turn.linker.lexicon.schema)
    return change_earlier_plan(turn.asking(f"the {found['ahead']} {noun}{found['behind']}"), "restrict")


def _asks_anew(turn: FollowUpTurn, body: Select, how: str) -> bool:
    """Whether a question that looks like a change says everything itself, or only asks for another property."""
    question, words, linker = turn.question, turn.words, turn.linker
    if how == "opposite" and (named := mentioned_classes(words, linker)):
        # "Which rooms are not?" after rooms
        shown = {v.classes for v in body.variables}
        nodes = [n for n in linker.index.graph.nodes if n.classes in shown]
        return not any(c.relations & n.relations for c in named for n in nodes)
    is_bare = how == "instead" and ellipsis.is_bare_property(words, linker) and not any(map(gradable_adjective, words))
    if is_bare and not any(c.kind in _CONDITION_CUES for c in prepare_question(question, linker).cues):
        # a property of what was given before, without a condition: "and the directors?"
        return True
    is_ranked = any(c.kind in RANKING_CUES for c in analyse_question(question).cues)
    if how == "add" and is_ranked and find_pronoun(words, ()) is None and mentioned_classes(words, linker):
        # "Also show the oldest bridge" adds nothing to a list.
        return True
    is_of_all = how == "instead" and pattern("dialogue", "of_all").search(question.casefold())
    if is_of_all and mentioned_classes(words, linker):
        # "and the oldest of all the bridges?"
        return True
    # "which is the oldest?" says by what to rank those that were listed.
    return how in ("first", "instead") and ellipsis.is_choice_of_best(words) and _names_measure(question, body)


def _names_measure(question: str, before: Select) -> bool:
    """Whether a superlative says what it measures, which "highest" does not after a list of prices."""
    cues = analyse_question(question).cues
    has_measure = before.order is not None or any(isinstance(answer, Attribute) for answer in before.answers)
    vague = {c.end for c in cues if c.kind == "most"} if has_measure else set()
    return any(c.kind == "superlative" and c.end not in vague for c in cues)


def substitute_in_plan(turn: FollowUpTurn, *, always: bool = False) -> Rewrite | None:
    """The last plan with another thing, value or period in it, if it depends on earlier turns (or `always`). Words
    cannot express it then: "who collected them?" mentions neither the accessions nor the room that they are in."""
    phrase, _, words, things, earlier, linker = turn
    last, body = turn.last, turn.last_body
    if not isinstance(body, Select) or not (always or not ellipsis.is_standalone(last)):
        return None
    if any(t.norm in WORDS["question_words"] | WORDS["filler"] for t in words):
        # "list all vases" begins a new topic.
        return None
    values = [c for c in linker.link(words) if c.kind == "value" and c.score >= ellipsis.MIN_SUBSTITUTE_SCORE]
    years = (Period(*year_bounds(int(t.norm)), t.start, t.end) for t in words if ellipsis.YEAR.fullmatch(t.norm))
    plans = list(dict.fromkeys((body, plan_edits.inline_earlier_plans(body, earlier[:-1]))))
    # "and in May?" after June 2024 is May 2024
    year = next((f.right[:4] for f in plans[-1].filters if f.op == ">=" and isinstance(f.right, str)), "")
    periods = [*(find_periods(phrase) or find_periods(f"{phrase.rstrip('? .')} {year}")), *years]
    covered = {i for c in (*things, *values) for i in c.covered}
    covered |= {i for i, t in enumerate(words) if any(p.start <= t.start and t.end <= p.end for p in periods)}
    if any(i not in covered and t.norm not in linker.stopwords for i, t in enumerate(words)):
        return None
    for plan in plans:
        changed = [
            *(plan_edits.replace_thing(plan, c, linker.lexicon) for c in sorted(things, key=lambda c: not c.exact)),
            *(plan_edits.replace_value(plan, c) for c in values),
            *(plan_edits.replace_period(plan, p.first, p.after) for p in periods),
        ]
        if (first := next(filter(None, changed), None)) is not None:
            return _ask_plan(first, turn)
    return None


def narrow_class(turn: FollowUpTurn) -> Rewrite | None:
    """ "How many of those are novels?" after a list of books or their number: the last plan, of the narrower class."""
    words, linker, body = turn.words, turn.linker, turn.last_body
    classes = mentioned_classes(words, linker)
    if len(classes) != 1 or not isinstance(body, Select) or body.limit is not None:
        return None
    narrow, listed = classes[0], plan_edits.list_plan(body)
    if listed is None or not _says_those_are(words, narrow, linker):
        return None
    if len(listed.answers) > 1 or not isinstance(listed.answers[0], Itself):
        return None
    own = next(v for v in listed.variables if v.name == listed.answers[0].variable)
    wider = [n for n in linker.index.graph.nodes if n.classes == own.classes and n.without == own.without]
    if not any(narrow.relations < n.relations for n in wider):
        return None
    narrowed = replace(own, classes=narrow.classes, without=narrow.without)
    plan = replace(listed, variables=tuple(narrowed if v is own else v for v in listed.variables))
    cues = analyse_question(" ".join(t.norm for t in words)).cues
    requested = plan_edits.count_plan(plan) if any(c.kind == "count" for c in cues) else plan
    return None if requested is None else _ask_plan(plan_edits.inline_earlier_plans(requested, turn.earlier[:-1]), turn)


def exclude_mentioned(turn: FollowUpTurn) -> Rewrite | None:
    """The last plan without the thing or the groups that the turn names. None if the turn says more."""
    body, values = turn.last_body, [c for c in turn.linker.link(turn.words) if c.kind == "value" and c.exact]
    if isinstance(body, Select) and _is_fully_linked(turn.words, turn.linker):
        groups = tuple(Filter(a, "=", c.value, True) for a in body.by for c in values if c.predicate == a.predicate)
        if groups:
            return _ask_plan(replace(body, filters=(*body.filters, *groups)), turn)
    if not isinstance(body, Select) or not turn.things or not ellipsis.is_elliptic(turn):
        return None
    plan, graph = plan_edits.inline_earlier_plans(body, turn.earlier[:-1]), turn.linker.index.graph
    changed = (plan_edits.exclude_thing(plan, c, graph) for c in sorted(turn.things, key=lambda c: not c.exact))
    first = next((other for other in changed if other is not None), None)
    return None if first is None else _ask_plan(first, turn)


def _says_those_are(words: Sequence[Token], narrow: NameCandidate, linker: Linker) -> bool:
    """Whether the only content of a question is that earlier things are of a class: "those are novels"."""
    pronouns = [i for i, t in enumerate(words) if t.norm in WORDS["pronoun_many"]]
    if len(pronouns) != 1:
        return False
    between = {t.norm for t in words[pronouns[0] + 1 : narrow.start]}
    has_other_words = any(
        not narrow.start <= i < narrow.end and t.norm not in linker.stopwords for i, t in enumerate(words)
    )
    return bool(between) and between <= WORDS["being"] | WORDS["article"] and not has_other_words


def _ask_plan(plan: Select, turn: FollowUpTurn) -> Rewrite:
    """The question that asks for a plan made of the last one, in words."""
    confidence = 1.0 if turn.last.confidence is None else turn.last.confidence
    words = verbalise_plan(Plan(plan), turn.linker.lexicon.schema)
    return Rewrite(words[:1].upper() + words[1:], True, Scope(Plan(plan), how="same", confidence=confidence))
