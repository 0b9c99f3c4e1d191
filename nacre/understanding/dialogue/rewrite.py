"""Make a turn stand alone by the turns before it: question + earlier turns -> Rewrite (coreference and ellipsis)."""

from collections.abc import Sequence
from dataclasses import replace

from nacre.language.base import language, word_map
from nacre.language.courtesy import is_greeting, strip_courtesy
from nacre.language.thesaurus import function_words, gradable_adjective
from nacre.language.tokens import Token, tokenize
from nacre.plans.inspect_select import variable_of
from nacre.records.plan import Attribute, Plan, Select
from nacre.records.schema import Schema
from nacre.records.turn import EarlierTurn, Rewrite, Scope
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.dialogue.meta_questions import is_meta_question
from nacre.understanding.dialogue.references.definite_references import resolve_definite_reference
from nacre.understanding.dialogue.references.exclude_given import rewrite_without_given, strip_other
from nacre.understanding.dialogue.references.focus import focus, has_only_persons, property_owners, requested_nodes
from nacre.understanding.dialogue.references.offered_readings import chosen_reading
from nacre.understanding.dialogue.references.pronouns import (
    demonstrative_positions,
    find_pronoun,
    format_labels,
    has_antecedent_in_turn,
    has_dangling_pronoun,
    mentioned_classes,
    ordinal_reference,
    replace_reference,
    resolve_pronoun,
    strip_opener,
)
from nacre.understanding.dialogue.references.superlative_references import superlative_reference
from nacre.understanding.dialogue.revisions.correction import (
    apply_correction,
    is_fully_linked,
    parse_correction,
    substitute_unknown,
)
from nacre.understanding.dialogue.revisions.ellipsis import (
    SCOPE_OPENING,
    exclude_mentioned,
    is_elliptic,
    is_short,
    mentioned_things,
    narrow_class,
    substitute_in_plan,
    substitute_thing,
    substitute_value,
)
from nacre.understanding.dialogue.revisions.follow_up import change_kind
from nacre.understanding.dialogue.revisions.fragments import (
    complete_fragment,
    grouped_property,
    grouped_things,
    is_fragment,
)
from nacre.understanding.dialogue.revisions.plan_edits import list_plan as listed_of
from nacre.understanding.dialogue.revisions.plan_substitution import inline_earlier_plans
from nacre.understanding.linking.linker import Linker, linker_of
from nacre.understanding.linking.names.name_candidate import NameCandidate
from nacre.understanding.linking.prepare_question import prepare_question
from nacre.understanding.question.analyse import MAX_TOKENS, analyse_question
from nacre.wording.labels.class_nouns import class_noun
from nacre.wording.phrases.plan import verbalise_plan

# stands for the things before, beside their names
OF_THEM = "of them"
# cues that order things
_PLACING = frozenset(("superlative", "most"))


def rewrite_question(question: str, earlier: tuple[EarlierTurn, ...], schema: Schema, lexicon: Lexicon) -> Rewrite:
    """The standalone question; independent questions come back unchanged, not `sure` where they point to nothing."""
    if len(tokenize(question)) > MAX_TOKENS:
        # no follow-up is so long, and what it names would be looked up for long
        return Rewrite(question)
    if not earlier:
        return Rewrite(question, sure=not has_dangling_pronoun(tokenize(question), linker_of(lexicon)))
    choice = chosen_reading(question, earlier)
    if choice is not None:
        return choice
    if is_greeting(question):
        return Rewrite(question)
    if is_meta_question(question):
        return Rewrite(question, aside=True)
    linker = linker_of(lexicon)
    topic = language().dialogue["new_topic"].match(question)
    if topic is not None:
        return Rewrite(question[topic.end() :])
    others = strip_other(question)
    if others is not None:
        return rewrite_without_given(rewrite_question(others, earlier, schema, lexicon), earlier)
    correction = parse_correction(question)
    if correction is not None:
        phrase, clear = correction
        found = _corrected(linker.spelling.correct(phrase), earlier, linker)
        if found is not None:
            return found
        # its lead would be read as a condition: "no" as "not"
        question = phrase if clear else question
    asked, question = question, linker.spelling.correct(strip_courtesy(question).strip())
    best = superlative_reference(question)
    if best is not None and len(focus(earlier, True, linker).keys) > 1:
        question = best
    words = tokenize(question)
    things = mentioned_things(linker, words)
    said = language().dialogue
    lead = said["about"].match(question) or said["opener"].match(question)
    phrase = question[lead.end() :] if lead else question
    bound = said["bounding"].match(question.casefold()) if not things else None
    if bound and (found := _changed(_of_those(question[bound.end() :]), earlier, linker, "restrict")):
        return found
    excluded = said["exclude"].match(question.casefold())
    if excluded and (found := exclude_mentioned(question[excluded.end("lead") :], earlier, linker)):
        return found
    ordinal = ordinal_reference(words, earlier)
    if ordinal is not None:
        at, one = ordinal
        label = one.labels[0]
        ahead, behind = words[: at[0]], words[at[1] :]
        said_so = any(t.norm not in function_words() for t in (*ahead, *behind))
        meant = replace_reference(question, words[at[0]].start, words[at[1] - 1].end, label, one.keys[0], one)
        alone = (
            None if said_so else substitute_in_plan(label, earlier, linker) or substitute_thing(label, earlier, linker)
        )
        return _as_sure_as(one, alone) if alone is not None else meant
    if (other := _placed_one(words, earlier, linker)) is not None:
        return other
    found = substitute_in_plan(phrase, earlier, linker) if lead or is_short(words) else None
    if found is None and things and (lead or is_short(words)) and is_elliptic(question, words, things):
        found = substitute_thing(phrase, earlier, linker)
    if found is None and lead and not things:
        found = substitute_value(phrase, earlier, linker)
    ones = said["only_ones"].match(question.casefold()) if things else None
    if ones and len(earlier[-1].keys) > 1:
        # "only the red ones": which of them are red
        question = f"{word_map('dialogue', 'standalone')['which_of_them']} {ones['what']}?"
        words = tokenize(question)
        return resolve_pronoun(question, words, len(words) - len(tokenize(ones["what"])) - 2, earlier, linker)
    if found is not None and said["which_ones"].match(question):
        found = _which(found)
    found = found or narrow_class(words, earlier, linker) or _changed(question, earlier, linker)
    return found or _pointing(question, words, things, earlier, linker, asked)


def _pointing(
    question: str,
    words: Sequence[Token],
    things: Sequence[NameCandidate],
    earlier: tuple[EarlierTurn, ...],
    linker: Linker,
    asked: str,
) -> Rewrite:
    """A question about things of earlier turns, by a pronoun or by leaving them out; others as they were `asked`."""
    pronoun = find_pronoun(words, things, demonstrative_positions(words, linker))
    if pronoun is not None and not has_antecedent_in_turn(words, pronoun, linker):
        return resolve_pronoun(question, words, pronoun, earlier, linker)
    one = focus(earlier[-1:], many=False, linker=linker)
    if not things and _lacks_object(words) and len(one.keys) == 1 and not has_only_persons(one, linker):
        return Rewrite(f"{strip_opener(question).rstrip('?')} of {one.labels[0]}?", True, one)
    if not things and is_fragment(words):
        asked_again = complete_fragment(question, earlier[-1]) or _changed(question, earlier, linker, "correct")
        if asked_again is not None:
            return asked_again
    if not things and (noun := grouped_property(words, earlier, linker)):
        return Rewrite(f"{strip_opener(question).rstrip('?')} {noun}?", True)
    if (one_of := resolve_definite_reference(question, words, earlier, linker)) is not None:
        return one_of
    if not things and (many := grouped_things(words, earlier, linker)) is not None:
        return Rewrite(f"{strip_opener(question).rstrip('?')} {OF_THEM} ({format_labels(many.labels)})?", True, many)
    if things or not _fragment(words, linker):
        return Rewrite(asked, sure=not is_fragment(words))
    asks = _asks_of_things(words)
    chooses = not asks and _chooses(words)
    if _is_superlative(words) and not (asks or chooses):
        # "who has the highest price?" is asked of all
        return Rewrite(asked)
    meant = focus(earlier, many=False, linker=linker)
    summed = bool(_summed(words))
    if summed or asks or chooses or language().dialogue["opener"].match(question):
        many = focus(earlier, True, linker, requested_nodes(words, -1, linker) if chooses else ())
        if summed:
            many = Scope() if _said_in(words, earlier[-1]) else property_owners(earlier[-1], words, linker)
        if len(many.keys) > 1 and chooses:
            which = words[0 if words[0].norm in language().words["choosing_one"] else 1]
            said = f"{which.text} {OF_THEM} ({format_labels(many.labels)})"
            return Rewrite(strip_opener(f"{said}{question[which.end :]}"), True, many)
        if len(many.keys) > 1:
            return Rewrite(
                f"{strip_opener(question).rstrip('?')} {OF_THEM} ({format_labels(many.labels)})?", True, many
            )
    if len(meant.keys) == 1 and not summed:
        return Rewrite(f"{strip_opener(question).rstrip('?')} of {meant.labels[0]}?", True, meant)
    return Rewrite(asked, sure=not is_fragment(words))


def _which(made: Rewrite) -> Rewrite:
    """ "And which ones are red?" after "how many are blue?": which, not how many."""
    count = next((c for c in analyse_question(made.standalone).cues if c.kind == "count" and c.start == 0), None)
    if count is None or (made.scope is not None and made.scope.how):
        return made
    rest = made.standalone[tokenize(made.standalone)[count.end - 1].end :]
    return replace(made, standalone=f"{word_map('dialogue', 'standalone')['which'].capitalize()}{rest}")


def _as_sure_as(one: Scope, made: Rewrite) -> Rewrite:
    """A question about one of the things that a turn gave, no surer than that turn."""
    scope = made.scope or one
    return replace(made, scope=replace(scope, confidence=min(scope.confidence, one.confidence)))


def _corrected(phrase: str, earlier: tuple[EarlierTurn, ...], linker: Linker) -> Rewrite | None:
    """ "No, I meant Y": the last question of another thing, value or kind, or for another property or bound."""
    words = tokenize(phrase)
    if any(t.norm in language().words["question_words"] for t in words):
        return None
    found = apply_correction(phrase, earlier, linker)
    if found is not None:
        return found
    if language().dialogue["bounding"].match(phrase.casefold()):
        return _changed(_of_those(phrase), earlier, linker, "restrict")
    if is_fully_linked(words, linker) or any(gradable_adjective(t) for t in words):
        how = change_kind(f"{word_map('dialogue', 'standalone')['and']} {phrase}", earlier[-1])
        changed = _changed(phrase, earlier, linker, how) if how else None
        return changed or (
            _changed(phrase, earlier, linker, "correct") if not mentioned_things(linker, words) else None
        )
    return substitute_unknown(phrase, earlier[-1], linker)


def _placed_one(words: Sequence[Token], earlier: tuple[EarlierTurn, ...], linker: Linker) -> Rewrite | None:
    """ "What about the one with the highest price?" after the best by something else: the best of the same things."""
    body = earlier[-1].plan.body if earlier[-1].plan else None
    found = language().dialogue["placed_one"].match(" ".join(t.norm for t in words))
    if found is None or not isinstance(body, Select) or body.limit != 1 or body.order is None:
        return None
    of = variable_of(body.order.by)
    kind = next((v for v in body.variables if v.name == of), None)
    if kind is None or not any(c.kind in _PLACING for c in analyse_question(found[0]).cues):
        return None
    noun = class_noun(kind, linker.lexicon.schema)
    return _changed(f"the {found['ahead']}{noun}{found['behind']}", earlier, linker, "restrict")


def _of_those(bound: str) -> str:
    """A bound alone as a question: what it bounds is what was given before."""
    return f"{word_map('dialogue', 'standalone')['those']} {bound}"


def _changed(question: str, earlier: tuple[EarlierTurn, ...], linker: Linker, how: str = "") -> Rewrite | None:
    """A follow-up that changes the result before it: "sort them by age", "also show the capacity"."""
    last = earlier[-1]
    how = how or change_kind(question, last)
    body = last.plan.body if last.plan else None
    if not how or not isinstance(body, Select) or (how == "instead" and _only_names(question, linker)):
        return None
    afresh = how == "instead" and language().dialogue["of_all"].search(question.casefold())
    if afresh and mentioned_classes(tokenize(question), linker):
        # "and the oldest of all the bridges?" is asked afresh
        return None
    if how in ("first", "instead") and _asks_of_things(tokenize(question)) and _measures(question, body):
        # "which is the oldest?" says itself what places those that were listed
        return None
    if how == "restrict" and language().dialogue["shows"].match(question.casefold()):
        # "show the ones over 20" after "how many are there?"
        body = listed_of(body) or body
    plan = Plan(inline_earlier_plans(body, earlier[:-1]))
    try:
        about = verbalise_plan(plan, linker.lexicon.schema)
    except KeyError:
        # the graph no longer has what the plan is about
        return None
    words = tokenize(question)
    pronoun, meant = find_pronoun(words, ()), focus(earlier[-1:], True, linker)
    if pronoun is not None and len(meant.keys) > 1:
        nearer = focus(earlier, True, linker, requested_nodes(words, pronoun, linker))
        if nearer.keys != meant.keys:
            # "which of them is the heaviest" of things that were spoken of before the last list
            return None
    sure = 1.0 if last.confidence is None else last.confidence
    scope = Scope(plan, meant.keys or last.keys, meant.labels or last.labels, how, sure)
    # for people; what is read is the question, and the plan in the scope
    said = f"{SCOPE_OPENING}{about})" if about and not set(about) & set("()") else ""
    end = len(question.rstrip(" ?.!"))
    return Rewrite(question[:1].upper() + question[1:end] + said + question[end:], True, scope)


def _fragment(words: Sequence[Token], linker: Linker) -> bool:
    """Asks a property of nothing ("and top speed?", "which is the cheapest?")."""
    candidates = [c for c in linker.link(words) if c.score >= 0.4]
    kinds = {c.kind for c in candidates}
    explained = {i for c in candidates for i in c.covered} | _summed(words)
    if any(
        i not in explained and t.norm not in linker.stopwords and gradable_adjective(t) is None
        for i, t in enumerate(words)
    ):
        return False
    if "class" in kinds and not _asks_of_things(words):
        return False
    if any(t.norm[:1].isdigit() for t in words):
        # a date or a number picks things out by itself
        return False
    return bool(kinds & {"predicate", "flag"}) or any(gradable_adjective(t) for t in words)


def _only_names(question: str, linker: Linker) -> bool:
    """ "And the directors?": a property of what was given before, and no condition on it."""
    words = tokenize(question)
    compared = any(c.kind in ("compare", "most", "negation", "both") for c in prepare_question(question, linker).cues)
    return _fragment(words, linker) and not compared and not any(gradable_adjective(t) for t in words)


def _measures(question: str, before: Select) -> bool:
    """Whether a superlative says itself what it measures, as "highest" does not after a list of prices."""
    cues = analyse_question(question).cues
    placed = before.order is not None or any(isinstance(answer, Attribute) for answer in before.answers)
    vague = {c.end for c in cues if c.kind == "most"} if placed else set()
    return any(c.kind == "superlative" and c.end not in vague for c in cues)


def _asks_of_things(words: Sequence[Token]) -> bool:
    """ "Which is the cheapest": a choice among things that were named before."""
    words = words[1:] if words[0].norm in language().words["leading"] else words
    chosen = _is_superlative(words) or any(
        (m := gradable_adjective(t)) is not None and m.degree != "positive" for t in words
    )
    return (
        chosen
        and words[0].norm in language().words["choosing"] | language().words["article"]
        and not any(
            t.norm not in function_words() | language().words["most"] and gradable_adjective(t) is None for t in words
        )
    )


def _summed(words: Sequence[Token]) -> set[int]:
    """The words that ask for an average or total."""
    return {
        i
        for c in analyse_question(" ".join(t.norm for t in words)).cues
        if c.kind in ("avg", "sum")
        for i in range(c.start, c.end)
    }


def _lacks_object(words: Sequence[Token]) -> bool:
    """ "Who came?": a verb alone, and what it was done to or at was spoken of before."""
    words = words[1:] if words[0].norm in language().words["leading"] else words
    return len(words) == 2 and words[0].norm == "who" and words[1].norm not in function_words()


def _said_in(words: Sequence[Token], last: EarlierTurn) -> bool:
    """Whether a turn asks for what the last one said in the same words: "above the average age", "what is the average
    age?"."""
    named = " ".join(t.norm for t in words if t.norm not in function_words())
    return f" {named} " in f" {' '.join(t.norm for t in tokenize(last.standalone))} "


def _chooses(words: Sequence[Token]) -> bool:
    """ "Which had the fewest visitors": a choice that names no kind, and so is one among what was named before."""
    known = language().words
    words = words[1:] if words[0].norm in known["leading"] else words
    return len(words) > 1 and words[0].norm in known["choosing_one"] and words[1].norm in function_words()


def _is_superlative(words: Sequence[Token]) -> bool:
    """Whether words hold the highest degree of a measure: "cheapest", "most expensive"."""
    measured = [gradable_adjective(t) for t in words]
    return any(
        m is not None and (m.degree == "superlative" or (i > 0 and words[i - 1].norm in language().words["most"]))
        for i, m in enumerate(measured)
    )
