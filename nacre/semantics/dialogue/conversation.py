"""Make a turn stand alone by the turns before it: question + earlier turns -> Rewrite (coreference and ellipsis)."""

from collections.abc import Sequence

from nacre.records.plan import Plan, Select
from nacre.records.schema import Schema
from nacre.records.turn import Earlier, Rewrite, Scope
from nacre.semantics.candidates import Candidate
from nacre.semantics.courtesy import is_greeting, without_courtesy
from nacre.semantics.dialogue.aside import is_aside
from nacre.semantics.dialogue.compose import whole
from nacre.semantics.dialogue.ellipsis import ABOUT, elliptic, in_plan, left_out, named, short, substituted, swapped
from nacre.semantics.dialogue.focus import asked_nodes, focus, focus_of_kind, just_named, nameless
from nacre.semantics.dialogue.follow import change
from nacre.semantics.dialogue.offered import chosen
from nacre.semantics.english import function_words, measure, resource
from nacre.semantics.language.base import language
from nacre.semantics.linker import Linker
from nacre.semantics.to_words import to_words
from nacre.semantics.understand import indexes, read
from nacre.semantics.words import Token, tokens
from nacre.stores.lexicon import Lexicon

# a longer turn that begins with "no" or "sorry" is a question of its own (given)
LONGEST_CORRECTION = 8


def rewrite(question: str, earlier: tuple[Earlier, ...], schema: Schema, lexicon: Lexicon) -> Rewrite:
    """The standalone question; independent questions come back unchanged, not `sure` where they point to nothing."""
    if not earlier:
        return Rewrite(question, sure=not _is_adrift(tokens(question), indexes(lexicon)))
    choice = chosen(question, earlier)
    if choice is not None:
        return choice
    if is_greeting(question):
        return Rewrite(question)
    if is_aside(question):
        return Rewrite(question, True, aside=True)
    linker = indexes(lexicon)
    asked, question = question, linker.spelling.corrected(without_courtesy(question).strip())
    words = tokens(question)
    things = named(linker, words)
    said = language().dialogue
    correction = said["correction"].match(question)
    lead = said["about"].match(question) or said["opener"].match(question)
    phrase = question[lead.end() :] if lead else question
    if correction and len(words) <= LONGEST_CORRECTION:
        found = _corrected(question[correction.end() :], earlier, linker)
        if found is not None:
            return found
    excluded = said["exclude"].match(question.casefold())
    if excluded and (found := left_out(question[excluded.end("lead") :], earlier, linker)):
        return found
    ordinal = _ordinal(words, earlier)
    if ordinal is not None:
        at, key, label = ordinal
        ahead, behind = words[: at[0]], words[at[1] :]
        said_so = any(t.norm not in function_words() for t in (*ahead, *behind))
        meant = _replaced(question, words[at[0]].start, words[at[1] - 1].end, label, key)
        alone = None if said_so else in_plan(label, earlier, linker) or substituted(label, earlier, linker)
        return alone or meant
    found = in_plan(phrase, earlier, linker) if lead or short(words) else None
    if found is None and things and (lead or short(words)) and elliptic(question, words, things):
        found = substituted(phrase, earlier, linker)
    if found is None and lead and not things:
        found = swapped(phrase, earlier, linker)
    return found or _changed(question, earlier, linker) or _pointing(question, words, things, earlier, linker, asked)


def _pointing(
    question: str,
    words: Sequence[Token],
    things: Sequence[Candidate],
    earlier: tuple[Earlier, ...],
    linker: Linker,
    asked: str,
) -> Rewrite:
    """A question about things of earlier turns, by a pronoun or by leaving them out; others as they were `asked`."""
    pronoun = _pronoun(words, things)
    if pronoun is not None and not _of_this_turn(words, pronoun, linker):
        return _resolved(question, words, pronoun, earlier, linker)
    if things or not _fragment(words, linker):
        return Rewrite(asked)
    if any((m := measure(t)) is not None and m.degree == "superlative" for t in words) and not _asks_of_things(words):
        # "who has the highest price?" is asked of all
        return Rewrite(asked)
    meant = focus(earlier, many=False, linker=linker)
    if _asks_of_things(words) or language().dialogue["opener"].match(question):
        many = focus(earlier, many=True, linker=linker)
        if len(many.keys) > 1:
            return Rewrite(f"{_stripped(question).rstrip('?')} of them ({_listed(many.labels)})?", True, many)
    if len(meant.keys) == 1:
        return Rewrite(f"{_stripped(question).rstrip('?')} of {meant.labels[0]}?", True, meant)
    return Rewrite(asked)


def _corrected(phrase: str, earlier: tuple[Earlier, ...], linker: Linker) -> Rewrite | None:
    """ "No, I meant Y": the last question of another thing, value or kind, or for another property."""
    words = tokens(phrase)
    things = named(linker, words)
    if any(t.norm in language().words["question_words"] for t in words):
        return None
    found = in_plan(phrase, earlier, linker) or (substituted(phrase, earlier, linker) if things else None)
    found = found or (swapped(phrase, earlier, linker) if not things else None)
    return found or (_changed(phrase, earlier, linker, "correct") if not things else None)


def _changed(question: str, earlier: tuple[Earlier, ...], linker: Linker, how: str = "") -> Rewrite | None:
    """A follow-up that changes the result before it: "sort them by age", "also show the capacity"."""
    last = earlier[-1]
    how = how or change(question, last)
    body = last.plan.body if last.plan else None
    if not how or not isinstance(body, Select) or (how == "instead" and _only_names(question, linker)):
        return None
    plan = Plan(whole(body, earlier[:-1]))
    try:
        about = to_words(plan, linker.lexicon.schema)
    except KeyError:
        # the graph no longer has what the plan is about
        return None
    words = tokens(question)
    pronoun, meant = _pronoun(words, ()), focus(earlier[-1:], True, linker)
    if pronoun is not None and len(meant.keys) > 1:
        nearer = focus(earlier, True, linker, asked_nodes(words, pronoun, linker))
        if nearer.keys != meant.keys:
            # "which of them is the heaviest" of things that were spoken of before the last list
            return None
    sure = 1.0 if last.confidence is None else last.confidence
    scope = Scope(plan, meant.keys or last.keys, meant.labels or last.labels, how, sure)
    # for people; what is read is the question, and the plan in the scope
    said = f"{ABOUT}{about})" if about and not set(about) & set("()") else ""
    end = len(question.rstrip(" ?.!"))
    return Rewrite(question[:1].upper() + question[1:end] + said + question[end:], True, scope)


def _ordinal(words: Sequence[Token], earlier: Sequence[Earlier]) -> tuple[tuple[int, int], str, str] | None:
    """ "The second one" of the list that was just given; "the last one", "the other one" of two."""
    ordinals, known, last = resource()["ordinals"], language().words, earlier[-1]
    for i, token in enumerate(words):
        following = words[i + 1].norm if i + 1 < len(words) else ""
        alone = not following or following in known["stand_in"] or following in function_words()
        if not i or words[i - 1].norm not in known["article"] or not alone:
            continue
        end = i + 2 if following in known["stand_in"] else i + 1
        if token.norm in known["other"]:
            other = _other(earlier)
            return None if other is None else ((i - 1, end), *other)
        n = ordinals.get(token.norm) or (len(last.keys) if token.norm in known["last"] else 0)
        if n and 0 < n <= len(last.keys) and len(last.keys) > 1:
            return (i - 1, end), last.keys[n - 1], last.labels[n - 1]
    return None


def _other(earlier: Sequence[Earlier]) -> tuple[str, str] | None:
    """The key and label of the one of two things that was not spoken of since; the second where none was."""
    for at in range(len(earlier) - 1, -1, -1):
        keys, labels = earlier[at].keys, earlier[at].labels
        if len(keys) == 2 == len(labels):
            since = {key for turn in earlier[at + 1 :] for key in turn.keys}
            place = 0 if keys[1] in since and keys[0] not in since else 1
            return keys[place], labels[place]
    return None


def _pronoun(words: Sequence[Token], named: Sequence[Candidate]) -> int | None:
    """The first pronoun that points back to an earlier turn; one after a thing of this turn points to that."""
    known = language().words
    first_name = min((c.start for c in named), default=len(words))
    for i, token in enumerate(words):
        before = words[i - 1].norm if i else ""
        if token.norm in known["there"] and i == len(words) - 1 and before not in known["being"]:
            return i
        if (
            token.norm in known["pronoun_number"]
            and before in known["before_number"]
            and "of" in [t.norm for t in words[:i]][-2:]
        ):
            # "which of the two"
            return i
        if token.norm in known["stand_in"] and i == 1 and words[0].norm in known["choosing"]:
            # "which one has the most?"
            return i
        if token.norm not in known["pronoun_one"] | known["pronoun_many"]:
            continue
        if i > first_name and not (token.norm in known["pronoun_first"] and i < 2):
            return None
        following = words[i + 1] if i + 1 < len(words) else None
        if token.norm == "that" and following and i and words[i - 1].norm not in function_words():
            # "cities that lie in ...": a relative clause
            continue
        if token.norm == "it" and following is not None and following.norm in known["impersonal"]:
            continue
        return i
    return None


def _is_adrift(words: Sequence[Token], linker: Linker) -> bool:
    """Whether a first question has a pronoun, and nothing before it that it may stand for.

    In "which department is he in" the department is asked for; he is somebody else.
    """
    known = language().words
    at = next((i for i, t in enumerate(words) if t.norm in known["pronoun_one"] | known["pronoun_many"]), None)
    if at is None or not any(t.norm in known["pronoun_person"] | known["pronoun_first"] for t in words[at : at + 1]):
        return False
    asked = 1 if words[0].norm in known["question_words"] and words[at].norm in known["pronoun_person"] else -1
    return not any(
        c.end <= at and c.start != asked and (c.kind == "entity" or (c.kind == "class" and c.exact))
        for c in linker.link(words)
    )


def _of_this_turn(words: Sequence[Token], at: int, linker: Linker) -> bool:
    """ "The oldest singer and his age": a possessive stands for what the turn asks for, where that is before it."""
    kinds = (c for c in linker.link(words) if c.kind == "class" and c.exact)
    return words[at].norm in language().words["possessive"] and any(c.end <= at for c in kinds)


def _resolved(question: str, words: Sequence[Token], at: int, earlier: tuple[Earlier, ...], linker: Linker) -> Rewrite:
    token = words[at]
    known = language().words
    many = token.norm in known["pronoun_many"] | known["pronoun_number"] | known["stand_in"]
    if token.norm in known["pronoun_they"] and (not at or words[at - 1].norm not in known["among"]):
        many = not just_named(earlier)
    meant = (_of_kind(words, at, earlier, linker) if token.norm in known["pronoun_many"] else None) or focus(
        earlier, many, linker, asked_nodes(words, at, linker)
    )
    if not meant.keys or (token.norm in known["stand_in"] and len(meant.keys) == 1):
        return Rewrite(question, sure=False)
    start, end = token.start, token.end
    if token.norm in known["there"]:
        placed = at and words[at - 1].norm in known["place_before"]
        place = meant.labels[0] if placed else f"in {meant.labels[0]}"
        return _replaced(question, start, end, place, meant.keys[0], meant)
    if token.norm in known["demonstrative"] and at + 1 < len(words):
        following = words[at + 1]
        if following.norm not in function_words() or following.norm in known["stand_in"]:
            # "that car", "this one": the noun goes too
            end = following.end
    if len(meant.keys) == 1:
        label = meant.labels[0] + ("'s" if token.norm in known["possessive"] and at + 1 < len(words) else "")
        return _replaced(question, start, end, label, meant.keys[0], meant)
    shown = "" if nameless(meant) else f" ({_listed(meant.labels)})"
    return Rewrite(_stripped(question[: token.end] + shown + question[token.end :]), True, meant)


def _of_kind(words: Sequence[Token], at: int, earlier: tuple[Earlier, ...], linker: Linker) -> Scope | None:
    """ "These museums": the things before of the kind that is named."""
    kinds = [c.relations for c in linker.link(words) if c.kind == "class" and c.exact and c.start == at + 1]
    return focus_of_kind(earlier, frozenset().union(*kinds), linker) if kinds else None


def _replaced(question: str, start: int, end: int, label: str, key: str, scope: Scope | None = None) -> Rewrite:
    text = question[:start] + label + question[end:]
    plain = label.removesuffix("'s")
    return Rewrite(_stripped(text), True, scope or Scope(None, (key,), (plain,)))


def _stripped(question: str) -> str:
    """Without the words that only tie it to the turn before: "and its price?" -> "its price?"."""
    text = language().dialogue["opener"].sub("", question).strip()
    return (text[:1].upper() + text[1:]).rstrip("?").rstrip() + ("?" if question.rstrip().endswith("?") else "")


def _listed(labels: Sequence[str]) -> str:
    shown = ", ".join(labels[:4])
    return shown + (f" and {len(labels) - 4} more" if len(labels) > 4 else "")


def _fragment(words: Sequence[Token], linker: Linker) -> bool:
    """Asks a property of nothing ("and top speed?", "which is the cheapest?")."""
    candidates = [c for c in linker.link(words) if c.score >= 0.4]
    kinds = {c.kind for c in candidates}
    explained = {i for c in candidates for i in c.covered}
    if any(i not in explained and t.norm not in linker.light and measure(t) is None for i, t in enumerate(words)):
        return False
    if "class" in kinds and not _asks_of_things(words):
        return False
    if any(t.norm[:1].isdigit() for t in words):
        # a date or a number picks things out by itself
        return False
    return bool(kinds & {"predicate", "flag"}) or any(measure(t) for t in words)


def _only_names(question: str, linker: Linker) -> bool:
    """ "And the directors?": a property of what was given before, and no condition on it."""
    words = tokens(question)
    compared = any(c.kind in ("compare", "most", "negation", "both") for c in read(question, linker).cues)
    return _fragment(words, linker) and not compared and not any(measure(t) for t in words)


def _asks_of_things(words: Sequence[Token]) -> bool:
    """ "Which is the cheapest": a choice among things that were named before."""
    chosen = any((m := measure(t)) is not None and m.degree != "positive" for t in words)
    return (
        chosen
        and words[0].norm in language().words["choosing"]
        and not any(t.norm not in function_words() and measure(t) is None for t in words)
    )
