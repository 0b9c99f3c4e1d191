"""Make a turn stand alone by the turns before it: question + EarlierTurns -> Rewrite (coreference and ellipsis)."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain, repeat

from nacre.language.data import language, pattern, word_map
from nacre.language.sanitize import quote_line
from nacre.language.small_talk import (
    asks_for_data,
    intents,
    is_light,
    nearest_intent,
    orientation_language,
    refers_back,
    strip_courtesy,
    threshold,
)
from nacre.language.thesaurus import english_data, function_words
from nacre.language.tokens import Token, is_known, name_tokens, tokenize
from nacre.records.answer import Display
from nacre.records.plan import PERIODS, Aggregate, Attribute, Order, Plan, PlanTerm, Select, aggregated_value
from nacre.records.schema import Schema
from nacre.records.turn import EarlierTurn, Reading, Rewrite, Scope
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.dialogue import ellipsis, revise_plan
from nacre.understanding.dialogue.focus import focus
from nacre.understanding.dialogue.follow_up import rewrite_without_given, strip_other
from nacre.understanding.dialogue.references import (
    FollowUpTurn,
    demonstrative_positions,
    find_pronoun,
    format_labels,
    has_antecedent_in_turn,
    has_dangling_pronoun,
    mentioned_classes,
    ordinal_reference,
    replace_reference,
    resolve_class,
    resolve_pronoun,
    resolve_value,
    strip_opener,
    superlative_reference,
)
from nacre.understanding.linking.link_mentions import Linker, linker_of
from nacre.understanding.linking.name_candidates import NameCandidate
from nacre.understanding.question.analyse import MAX_TOKENS, analyse_question
from nacre.wording.nouns import is_amount
from nacre.wording.plan_phrases import verbalise_plan


def rewrite_question(question: str, earlier: tuple[EarlierTurn, ...], schema: Schema, lexicon: Lexicon) -> Rewrite:
    """The standalone question; an independent one is unchanged. Not `sure` if it refers to what is not there."""
    linker = linker_of(lexicon)
    question = _resolve_year(question, earlier[-1]) if earlier else question
    asked, display = _split_display(question, linker)
    if display and asked:
        return replace(rewrite_question(asked, earlier, schema, lexicon), display=display)
    if display and earlier:
        last = earlier[-1]
        repeated = _again(last.plan, last, schema) if last.plan is not None else Rewrite(question)
        return replace(repeated, display=display)
    if earlier and (revised := _other_rows(question, earlier[-1], schema)) is not None:
        return _again(revised, earlier[-1], schema)
    if earlier and (direct := _direct_rewrite(question, earlier)) is not None:
        return direct
    if intent := orientation_intent(question, linker, is_follow_up=bool(earlier)):
        return Rewrite(question, orientation=intent)
    if len(tokenize(question)) > MAX_TOKENS:
        # No follow-up is that long, and looking up all of its names would take long.
        return Rewrite(question)
    if not earlier:
        return Rewrite(question, sure=not has_dangling_pronoun(tokenize(question), linker))
    others = strip_other(question)
    if others is not None:
        # "Who else is a member?" asks nothing of the things before.
        rewritten, words = Rewrite(others.question), tokenize(others.question)
        if find_pronoun(words, ()) is not None or language().words["demonstrative"] & {t.norm for t in words}:
            rewritten = rewrite_question(others.question, earlier, schema, lexicon)
        return rewrite_without_given(rewritten, earlier, others.noun, linker)
    correction = revise_plan.parse_correction(question)
    if correction is not None:
        phrase, is_certain = correction
        corrected = revise_plan.correct_last_question(
            FollowUpTurn.read(linker.spelling.correct(phrase), question, earlier, linker)
        )
        if corrected is not None:
            return corrected
        # The lead must go: its "no" would be parsed as a negation.
        question = phrase if is_certain else question
    asked = linker.spelling.correct(strip_courtesy(question).strip())
    best = superlative_reference(asked)
    if best is not None and len(focus(earlier, True, linker).keys) > 1:
        asked = best
    turn = FollowUpTurn.read(asked, question, earlier, linker)
    for rule in REWRITE_RULES:
        if (rewrite := rule(turn)) is not None:
            return rewrite
    kept = ellipsis.keep_question(turn)
    return replace(kept, sure=kept.sure and not has_dangling_pronoun(turn.words, linker))


def _resolve_year(question: str, last: EarlierTurn) -> str:
    """The question with "that year" and "the year before" as a year, by the only one of the last question or answer."""
    found = pattern("dialogue", "earlier_year").search(question)
    for text in (last.standalone, " ".join(last.labels)) if found else ():
        years = set(re.findall(rf"\b{ellipsis.YEAR.pattern}\b", text))
        if found and len(years) == 1:
            year = int(years.pop()) + bool(found["after"]) - bool(found["before"])
            return f"{question[: found.start()]}{found['kept'] or 'in'} {year}{question[found.end() :]}"
    return question


def _direct_rewrite(question: str, earlier: tuple[EarlierTurn, ...]) -> Rewrite | None:
    """The rewrite of a turn that chooses an offered reading, is about the conversation, or changes the topic."""
    choice = chosen_reading(question, earlier)
    if choice is not None:
        return choice
    if meta_kind(question):
        return Rewrite(question, aside=True)
    topic = pattern("dialogue", "new_topic").match(question)
    return None if topic is None else Rewrite(question[topic.end() :])


def chosen_reading(question: str, earlier: tuple[EarlierTurn, ...]) -> Rewrite | None:
    """The reading that a turn chooses: by its number, in its words, or by a yes if one reading is to be confirmed.

    A number refers to the last answer that offered readings. "The second one" refers to a thing if the last answer
    named several.
    """
    words = name_tokens(question)
    # The reading that the last answer asked to confirm, or the only one it offered
    last = earlier[-1] if earlier else None
    confirmed = last.confirm or (last.options[0] if len(last.options) == 1 else None) if last is not None else None
    if confirmed is not None and words and set(words) <= language().words["affirming"]:
        return Rewrite(confirmed.words, True, chosen=confirmed)
    offering = next((turn for turn in reversed(earlier) if turn.options), None)
    may_be_ordinal = offering is not None and offering is earlier[-1] and len(offering.keys) < 2
    number = _chosen_number(words, may_be_ordinal=may_be_ordinal) if offering is not None else 0
    if offering is not None and 0 < number <= len(offering.options):
        reading: Reading | None = offering.options[number - 1]
    else:
        offered = (reading for turn in reversed(earlier) for reading in (*turn.options, *turn.others))
        reading = next((each for each in offered if name_tokens(each.words) == words), None)
    return Rewrite(reading.words, True, chosen=reading) if reading is not None else None


def _chosen_number(words: Sequence[str], *, may_be_ordinal: bool) -> int:
    """The number that words choose. 0 if they say more than that."""
    content = [word for word in words if word not in language().words["around_choice"]]
    content = content or [word for word in words if word == "one"]
    if len(content) != 1:
        return 0
    if re.fullmatch("[0-9]{1,2}", content[0]):
        return int(content[0])
    data = english_data()
    numbers = {**data["numbers"], **(data["ordinals"] if may_be_ordinal else {})}
    return int(numbers.get(content[0], 0))


def _split_display(question: str, linker: Linker) -> tuple[str, Display]:
    """The question without the words that say how its answer is shown, and how; "" if it says nothing else. A word that
    the graph has names with is one of the question."""
    request = question
    for expression, words in word_map("dialogue", "display_requests").items():
        request = re.sub(expression, words, request) if len(question) <= MAX_REQUEST_LENGTH else request
    for name in ("display_again", "display_shares", "display_lead", "display_tail"):
        found = pattern("dialogue", name).search(request)
        word = found and next(filter(None, found.groupdict().values())).casefold()
        if found is None or not word or any(each.exact for each in linker.link(tokenize(word))):
            continue
        display: Display = word_map("dialogue", "displays")[word.removesuffix("s")]  # type: ignore[assignment]
        if name == "display_again":
            return "", display
        is_lead = name in ("display_lead", "display_shares")
        asked = f"Show {request[found.end() :]}" if is_lead else request[: found.start()]
        charted = _chart_request(asked, linker) if display in ("chart", "shares") else asked
        if request != question and (not charted or len(pattern("dialogue", "display_by").findall(charted)) > 1):
            # another request names all that it counts by
            return question, ""
        rest = charted or asked
        if len(tokenize(rest)) > 1:
            # "plot ... as a bar chart"
            return _split_display(rest, linker)[0] or rest, display
    return question, ""


def _chart_request(rest: str, linker: Linker) -> str:
    """What a chart is of, in the words that questions have: one number "and" the other, a number "per" one group "and"
    another, or per month or year "over time"; "" if it names none of these."""
    graph, schema, known = linker.index.graph, linker.lexicon.schema, word_map("dialogue", "standalone")
    joints = chain((known["per"],), repeat(known["and"]))

    def is_number(candidate: NameCandidate) -> bool:
        return candidate.kind == "predicate" and graph.is_numeric(candidate.predicate)

    def grouped(found: re.Match[str]) -> str:
        words = tokenize(found["group"])
        named = (c for c in linker.link(words) if c.start == 0 and c.kind in ("class", "predicate"))
        amounts = (is_number(c) and is_amount(c.predicate, schema) for c in named)
        return f" {next(joints)} " if words[0].norm in PERIODS or not all(amounts) else found[0]

    sides = pattern("dialogue", "display_pair").split(rest)
    if len(sides) == 2 and all(any(map(is_number, linker.link(tokenize(side)))) for side in sides):
        return f" {known['and']} ".join(sides)
    dates = [p for p in schema.predicates if p.datatype in ("date", "datetime")]
    years = [int(text[:4]) for p in dates for text in (*p.values, *p.samples) if text[:4].isdigit()] or [0]
    part = PERIODS[max(years) - min(years) <= MAX_YEARS_OF_MONTHS]
    rest = pattern("dialogue", "display_time").sub(lambda found: f" {known['per']} {found['part'] or part}", rest)
    text = pattern("dialogue", "display_by").sub(grouped, rest)
    return "" if next(joints) == known["per"] else text


# Characters of a request for a chart in other words, which bound the time of its patterns; years that are shown month
# by month, if the question asks for no part of them (given).
MAX_REQUEST_LENGTH, MAX_YEARS_OF_MONTHS = 200, 5


def _again(plan: Plan, last: EarlierTurn, schema: Schema) -> Rewrite:
    """The answer of a plan that was made of the last one, and is as certain."""
    words, confidence = verbalise_plan(plan, schema), 1.0 if last.confidence is None else last.confidence
    chosen = Reading(plan, 1.0, 1.0, words, probability=confidence)
    return Rewrite(words, True, Scope(confidence=confidence), chosen=chosen)


def _other_rows(question: str, last: EarlierTurn, schema: Schema) -> Plan | None:
    """The last plan with its first rows only ("the top five"), or by another part of a date ("by month")."""
    body = last.plan.body if last.plan else None
    if last.plan is None or not isinstance(body, Select):
        return None
    text = " ".join(t.norm for t in tokenize(question))
    if period := pattern("dialogue", "period").search(text):
        changed = _with_period(body, period["part"])
        return replace(last.plan, body=changed) if changed != body else None
    by = next((each for each in reversed(body.answers) if _is_number(each, schema)), None)
    if by is not None and (turned := pattern("dialogue", "turned").search(text)):
        order = Order(body.answers[0] if turned["name"] else by, not any(turned.groupdict().values()))
        if turned["other"] and body.order is not None:
            order = replace(body.order, descending=not body.order.descending)
        return replace(last.plan, body=replace(body, order=order))
    found = pattern("dialogue", "top").search(text)
    parts = found.groupdict() if found else {}
    count = str(parts.get("count") or parts.get("number") or "")
    number = int(count) if count.isdecimal() else word_map("english", "numbers").get(count)
    if not number or int(number) > MAX_TOP:
        return None
    if body.order is not None and parts.get("top") == "first":
        return replace(last.plan, body=replace(body, limit=min(int(number), body.limit or MAX_TOP)))
    if by is None:
        return None
    order = Order(by, bool(parts.get("top") or parts.get("most")))
    return replace(last.plan, body=replace(body, order=order, limit=int(number), offset=0))


def _is_number(term: PlanTerm, schema: Schema) -> bool:
    of = aggregated_value(term)
    if isinstance(term, Aggregate) and term.function == "count":
        return True
    return isinstance(of, Attribute) and schema.predicate_of[of.predicate].datatype in ("integer", "real")


def _with_period(select: Select, part: str) -> Select:
    """The select with another part of its dates: months in place of years."""

    def other(term: PlanTerm) -> PlanTerm:
        if isinstance(term, Attribute) and term.part in PERIODS:
            return replace(term, part=part)  # type: ignore[arg-type]
        return term

    order = replace(select.order, by=other(select.order.by)) if select.order else None
    by = tuple(other(each) for each in select.by)
    return replace(select, answers=tuple(map(other, select.answers)), by=by, order=order)  # type: ignore[arg-type]


MAX_TOP = 1000  # Rows of "the top ten" (given).


def _bound_things(turn: FollowUpTurn) -> Rewrite | None:
    """ "More than 20": of the things before. "Who has more than one horse" after one thing is no such bound."""
    is_new = len(turn.last.keys) < 2 and mentioned_classes(turn.words, turn.linker)
    bound = None if turn.things or is_new else pattern("dialogue", "bounding").match(turn.question.casefold())
    return revise_plan.bound_earlier_things(turn.asking(turn.question[bound.end() :])) if bound is not None else None


def _exclude_thing(turn: FollowUpTurn) -> Rewrite | None:
    """ "Without Lisbon": the last question without it."""
    lead = pattern("dialogue", "exclude").match(turn.question.casefold())
    return revise_plan.exclude_mentioned(turn.asking(turn.question[lead.end("lead") :])) if lead else None


def _refer_by_ordinal(turn: FollowUpTurn) -> Rewrite | None:
    """ "How old is the second one?". "And the second one?" asks the last question of it."""
    ordinal = ordinal_reference(turn)
    if ordinal is None:
        return None
    (start, end), one = ordinal
    words, label = turn.words, one.labels[0]
    if len(one.keys) > 1:
        return _refer_to_others(turn, words[start].start, words[end - 1].end, one)
    if all(t.norm in function_words() for t in (*words[:start], *words[end:])):
        same = revise_plan.substitute_in_plan(turn.asking(label)) or ellipsis.substitute_thing(turn.asking(label))
        if same is not None:
            # A rewrite about one of the things that a turn gave, at most as certain as that turn
            scope = same.scope or one
            return replace(same, scope=replace(scope, confidence=min(scope.confidence, one.confidence)))
    return replace_reference(turn.question, words[start].start, words[end - 1].end, label, one.keys[0], one)


def _refer_to_others(turn: FollowUpTurn, start: int, end: int, others: Scope) -> Rewrite:
    """ "And the others?": the last question of all others. "Are the others red?"."""
    those = f"{word_map('dialogue', 'standalone')['those']} ({format_labels(others.labels)})"
    if all(t.norm in function_words() for t in tokenize(f"{turn.question[:start]} {turn.question[end:]}")):
        same = ellipsis.substitute_thing(turn.asking(others.labels[0]))
        if same is None:
            return Rewrite(turn.question, sure=False)
        return replace(same, standalone=same.standalone.replace(others.labels[0], those, 1), scope=others)
    return Rewrite(strip_opener(turn.question[:start] + those + turn.question[end:]), True, others)


def _select_ones(turn: FollowUpTurn) -> Rewrite | None:
    """ "Only the red ones": which of the things before are red."""
    ones = pattern("dialogue", "only_ones").match(turn.question.casefold()) if turn.things else None
    if ones is None or len(turn.last.keys) < 2:
        return None
    question = f"{word_map('dialogue', 'standalone')['which_of_them']} {ones['what']}?"
    asked = turn.asking(question)
    return resolve_pronoun(asked, len(asked.words) - len(tokenize(ones["what"])) - 2)


def _substitute(turn: FollowUpTurn) -> Rewrite | None:
    """ "What about Lisbon?", "and in 2022?": the last question with another thing, value or time."""
    phrase = turn.asking(turn.question[len(turn.lead) :])
    if any(t.norm in language().words["possessive"] for t in phrase.words[:1]):
        # "and its owner?" asks something of the thing before
        return None
    may_leave_out = bool(turn.lead) or len(turn.words) <= ellipsis.MAX_SHORT_TOKENS
    found = revise_plan.substitute_in_plan(phrase) if may_leave_out else None
    if found is None and turn.things and may_leave_out and ellipsis.is_elliptic(turn):
        found = ellipsis.substitute_thing(phrase)
    if found is None and turn.lead and not turn.things:
        found = ellipsis.substitute_value(phrase)
    is_about = found is None and pattern("dialogue", "about").match(turn.question)
    if is_about and len(turn.things) == 1 and turn.things[0].exact and ellipsis.is_elliptic(turn):
        # A new topic: nothing in the last question can be replaced by the thing.
        return Rewrite(turn.question)
    is_which = found is not None and pattern("dialogue", "which_ones").match(turn.question)
    return _ask_which(found) if found is not None and is_which else found


def _ask_which(rewrite: Rewrite) -> Rewrite:
    """ "And which ones are red?" after "how many are blue?" asks which, and not how many."""
    cues = analyse_question(rewrite.standalone).cues
    count = next((c for c in cues if c.kind == "count" and c.start == 0), None)
    if count is None or (rewrite.scope is not None and rewrite.scope.how):
        return rewrite
    rest = rewrite.standalone[tokenize(rewrite.standalone)[count.end - 1].end :]
    return replace(rewrite, standalone=f"{word_map('dialogue', 'standalone')['which'].capitalize()}{rest}")


def _refer_by_pronoun(turn: FollowUpTurn) -> Rewrite | None:
    """ "How old is she?"."""
    words, linker = turn.words, turn.linker
    at = find_pronoun(words, turn.things, demonstrative_positions(words, linker))
    return None if at is None or has_antecedent_in_turn(words, at, linker) else resolve_pronoun(turn, at)


def _complete_fragment(turn: FollowUpTurn) -> Rewrite | None:
    """ "In which years?": the last question, with this asked of it."""
    if turn.things or not ellipsis.is_fragment(turn.words):
        return None
    return ellipsis.complete_fragment(turn.question, turn.last) or revise_plan.change_earlier_plan(turn, "correct")


# How a turn may depend on earlier ones. The first rule that applies counts.
REWRITE_RULES: tuple[Callable[[FollowUpTurn], Rewrite | None], ...] = (
    _bound_things,
    _exclude_thing,
    _refer_by_ordinal,
    revise_plan.best_by_other_measure,
    _select_ones,
    ellipsis.add_linked_thing,
    ellipsis.add_number_group,
    _substitute,
    ellipsis.add_number_thing,
    revise_plan.narrow_class,
    revise_plan.change_earlier_plan,
    resolve_value,
    _refer_by_pronoun,
    ellipsis.add_object,
    _complete_fragment,
    ellipsis.add_group,
    resolve_class,
    ellipsis.add_owner,
)

# Kinds of questions about the conversation: keys of dialogue.yaml.
META_KINDS = ("asked_first", "asked_last", "asked_all", "doubt")


def meta_kind(question: str) -> str:
    """What a turn asks about the conversation, and not about the graph; "" for other turns."""
    text = " ".join(t.norm for t in tokenize(question))
    return next((kind for kind in META_KINDS if pattern("dialogue", kind).search(text)), "")


def answer_meta_question(question: str, earlier: Sequence[EarlierTurn], schema: Schema) -> str:
    """The answer to a question about the conversation. `earlier` has at least one turn."""
    quoted = [f"“{quote_line(turn.question)}”" for turn in earlier]
    if text := word_map("dialogue", "meta_answers").get(meta_kind(question)):
        return text.format(first=quoted[0], last=quoted[-1], all="; ".join(quoted))
    return _basis(earlier[-1], schema)


def _basis(turn: EarlierTurn, schema: Schema) -> str:
    """What the last answer is based on, and how certain it is."""
    if turn.plan is None or turn.confidence is None:
        return "My last answer rests on what it cites; I have nothing else to say for it."
    try:
        reading = f"I read “{quote_line(turn.question)}” as “{quote_line(verbalise_plan(turn.plan, schema))}”."
    except KeyError:
        # The graph no longer has what the plan is about.
        return "The graph has changed since my last answer. Please ask once more."
    return f"{reading} Of answers that I am as sure of as this one, about {turn.confidence:.0%} are right."


NAME_SCORE = 0.9  # Minimum score of a name of the graph that makes a question one about the data (given).
MAX_PARTS = 120  # Sentences and clauses of a turn that are looked at (given); a question of 4,000 characters has fewer.
MAX_PART_WORDS = 40  # The words of a clause that is compared; no paraphrase has more than a third of them (given).

_SENTENCE_END = re.compile(r"(?<![.?!;:\n])[.?!;:\n]++(?=\s|$)|\n")
_CLAUSE_END = re.compile(r"(?<![.?!;:,\n])[.?!;:,\n]++(?=\s|$)|\n|\s(?:[-–—]{1,3}|and)\s")


def orientation_intent(text: str, linker: Linker, *, is_follow_up: bool = False) -> str:
    """The intent of a turn that asks nothing of the data: "contents", "thanks" and others of the paraphrases, or
    "nonsense"; "" for a question about the data.

    The turn as a whole, each of its sentences, or each of its clauses must be like a paraphrase; other sentences of the
    turn may only remark on something that the graph does not have. After other turns, words may refer to these.
    """
    divisions = (
        list(dict.fromkeys(part for part in map(str.strip, parts) if tokenize(part)))
        for parts in ([text], [strip_courtesy(text)], _SENTENCE_END.split(text), _CLAUSE_END.split(text))
    )
    # of most turns the four have the same words
    for parts in {tuple(map(tuple, map(tokenize, each))): each for each in divisions}.values():
        if len(parts) <= MAX_PARTS and (intent := _intent_of_parts(parts, linker, is_follow_up=is_follow_up)):
            return intent
    return "nonsense" if _is_nonsense(tokenize(text), linker) else ""


def _intent_of_parts(parts: Sequence[str], linker: Linker, *, is_follow_up: bool) -> str:
    """The most informative intent of the parts of a turn."""
    found = [_intent(part, linker, is_follow_up=is_follow_up) for part in parts]
    code = next((orientation_language(part) for part, intent in zip(parts, found, strict=True) if intent), "en")
    for part, intent in zip(parts, found, strict=True):
        if not intent and (asks_for_data(part, code) or _names(tokenize(part)[:MAX_PART_WORDS], linker)):
            return ""
    asking = [intent for intent in found if intent and intent not in intents("small_talk")]
    return "" if not asking and "" in found else next(iter([*asking, *reversed(found)]), "")


def _intent(text: str, linker: Linker, *, is_follow_up: bool) -> str:
    """The intent of a sentence or clause; "" if it is not like any, or names something of the graph."""
    tokens = tokenize(text)
    known = language().words
    asks_others = len(tokens) > 1 and tokens[0].norm in known["asking_who"] and tokens[1].norm in known["other_after"]
    if not tokens or len(tokens) > MAX_PART_WORDS or asks_others:
        return ""
    match = nearest_intent(text)
    if match is None or match.likeness < threshold(is_loose=True):
        return ""
    about_graph = match.intent in intents("about_graph")
    if match.intent == "counts" and match.rest:
        # of what it counts
        return ""
    refers = refers_back(text) and (about_graph or match.intent == "self")
    if is_follow_up and (match.intent == "counts" or refers):
        return ""
    is_sure = match.likeness >= threshold(is_loose=False)
    if not is_sure and (refers_back(text) or (about_graph and match.rest)):
        return ""
    named = [(kind, token) for kind, token in _names(tokens, linker) if token not in match.graph]
    rest = {token.start for token in match.rest}
    small_talk = is_sure and match.intent in intents("small_talk")
    if any((kind == "class" and not small_talk) or token.start in rest for kind, token in named):
        return ""
    return "" if named and (not is_sure or match.intent in intents("no_answer")) else match.intent


def _names(tokens: Sequence[Token], linker: Linker) -> list[tuple[str, Token]]:
    """The words that name something of the graph, with its kind; function words and "thing" name nothing here."""
    empty = function_words() | language().words["whole"]
    return [
        (found.kind, tokens[i])
        for found in linker.link(tokens)
        if found.exact and found.score >= NAME_SCORE
        for i in range(found.start, found.end)
        if not is_light(tokens[i].norm) and empty.isdisjoint((tokens[i].norm, tokens[i].lemma))
    ]


def _is_nonsense(tokens: Sequence[Token], linker: Linker) -> bool:
    """Whether no word of a text is nearly one of English or of the graph, nor capitalised as a name may be."""
    words = tokens[:MAX_PART_WORDS]
    if any((token.text[0].isupper() and not token.text.isupper()) or token.norm[0].isdigit() for token in words):
        return False
    if any(is_light(t.norm) or is_known(t.norm, lang="en") for t in words):
        return False
    text = " ".join(token.norm for token in words)
    return len(tokens) == len(words) and not linker.link(words) and linker.spelling.correct(text) == text
