"""Make a turn stand alone by the turns before it: question + earlier turns -> Rewrite (coreference and ellipsis)."""

from collections.abc import Sequence

from nacre.records.schema import Schema
from nacre.records.turn import Earlier, Rewrite, Scope
from nacre.semantics.candidates import Candidate
from nacre.semantics.courtesy import is_greeting, without_courtesy
from nacre.semantics.dialogue.focus import asked_nodes, focus, focus_of_kind, nameless
from nacre.semantics.dialogue.follow import change
from nacre.semantics.dialogue.offered import chosen
from nacre.semantics.english import function_words, measure, resource
from nacre.semantics.language.base import language
from nacre.semantics.linker import Linker
from nacre.semantics.to_words import to_words
from nacre.semantics.understand import indexes
from nacre.semantics.words import Token, tokens
from nacre.stores.lexicon import Lexicon


def rewrite(question: str, earlier: tuple[Earlier, ...], schema: Schema, lexicon: Lexicon) -> Rewrite:
    """The standalone question; independent questions come back unchanged."""
    if not earlier:
        return Rewrite(question)
    choice = chosen(question, earlier)
    if choice is not None:
        return choice
    if is_greeting(question):
        return Rewrite(question)
    linker = indexes(lexicon)
    asked, question = question, linker.spelling.corrected(without_courtesy(question).strip())
    words = tokens(question)
    named = _named(linker, words)
    said = language().dialogue
    correction = said["correction"].match(question)
    about, opened = said["about"].match(question), said["opener"].match(question)
    lead = about or opened
    if correction and named and len(words) <= 8:
        return _substituted(question[correction.end() :], earlier, linker) or Rewrite(asked)
    ordinal = _ordinal(words, earlier[-1])
    if ordinal is not None:
        at, key, label = ordinal
        return _replaced(question, words[at[0]].start, words[at[1] - 1].end, label, key)
    if named and (lead or _short(words)):
        substituted = _substituted(question[lead.end() :] if lead else question, earlier, linker)
        if substituted is not None and _elliptic(question, words, named):
            return substituted
    swapped = _swapped(question[lead.end() :] if lead else question, earlier, linker) if lead and not named else None
    if swapped is not None:
        return swapped
    changed = _changed(question, earlier, linker)
    if changed is not None:
        return changed
    pronoun = _pronoun(words, named)
    if pronoun is not None and _of_this_turn(words, pronoun, linker):
        pronoun = None
    if pronoun is not None:
        return _resolved(question, words, pronoun, earlier, linker)
    if not named and _fragment(words, linker):
        meant = focus(earlier, many=False, linker=linker)
        if meant.keys and _asks_of_things(words):
            many = focus(earlier, many=True, linker=linker)
            if len(many.keys) > 1:
                return Rewrite(f"{_stripped(question)} (of {_listed(many.labels)})", True, many)
        if meant.keys and len(meant.keys) == 1:
            return Rewrite(f"{_stripped(question)} of {meant.labels[0]}?", True, meant)
    return Rewrite(asked)


def _changed(question: str, earlier: tuple[Earlier, ...], linker: Linker) -> Rewrite | None:
    """A follow-up that changes the result before it: "sort them by age", "also show the capacity"."""
    last = earlier[-1]
    how = change(question, last)
    if not how or last.plan is None:
        return None
    try:
        about = to_words(last.plan, linker.lexicon.schema)
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
    scope = Scope(last.plan, meant.keys or last.keys, meant.labels or last.labels, how, sure)
    # for people; what is read is the question, and the plan in the scope
    said = f" (about {about})" if about and not set(about) & set("()") else ""
    end = len(question.rstrip(" ?.!"))
    return Rewrite(question[:1].upper() + question[1:end] + said + question[end:], True, scope)


def _named(linker: Linker, words: Sequence[Token]) -> list[Candidate]:
    """What the question itself names: things by name, or a part of a name that says enough."""
    return [c for c in linker.link(words) if c.kind == "entity" and (c.exact or c.score >= 0.6)]


def _short(words: Sequence[Token]) -> bool:
    return len(words) <= 4


def _elliptic(question: str, words: Sequence[Token], named: Sequence[Candidate]) -> bool:
    """Does the turn name a thing and ask nothing of it ("and X?", "in X?")?"""
    covered = {i for c in named for i in c.covered}
    rest = [t for i, t in enumerate(words) if i not in covered and t.norm not in function_words()]
    verb = bool(words) and words[0].norm in language().words["asking_yes_no"]
    about = language().dialogue["about"].match(question)
    asks = not about and any(t.norm in language().words["question_words"] for t in words)
    return not rest and not verb and not asks


def _substituted(phrase: str, earlier: tuple[Earlier, ...], linker: Linker) -> Rewrite | None:
    """The last question with its thing replaced by one of the same kind."""
    new = _named(linker, tokens(phrase))
    whole = [c for c in new if c.exact]
    new = whole or new
    for turn in reversed(earlier[-3:]):
        old_words = tokens(turn.standalone)
        old = _named(linker, old_words)
        for candidate in old:
            for other in new:
                if other.relations & candidate.relations and other.keys != candidate.keys:
                    start, end = old_words[candidate.start].start, old_words[candidate.end - 1].end
                    text = turn.standalone[:start] + other.label + turn.standalone[end:]
                    return Rewrite(text, True, Scope(None, other.keys, (other.label,)))
    last = tokens(earlier[-1].standalone)
    old = _named(linker, last)
    if not whole or not old:
        return None
    # a thing of another kind, but named in full: the same is asked of it
    start, end = last[old[0].start].start, last[old[0].end - 1].end
    text = earlier[-1].standalone[:start] + whole[0].label + earlier[-1].standalone[end:]
    return Rewrite(text, True, Scope(None, whole[0].keys, (whole[0].label,)))


def _swapped(phrase: str, earlier: tuple[Earlier, ...], linker: Linker) -> Rewrite | None:
    """ "And in 2022?", "and the red ones?": the last question with its time, value or kind replaced, or this added."""
    words, time = tokens(phrase), language().dialogue["time"]
    said = [(m.start(), m.end(), "time") for m in time.finditer(phrase)]
    for c in linker.link(words):
        inside = any(a < words[c.end - 1].end and words[c.start].start < b for a, b, _ in said)
        if not inside and (c.kind == "value" or (c.kind == "class" and c.exact)) and c.score >= 0.75:
            kind = f"value {c.predicate}" if c.kind == "value" else "class"
            said.append((words[c.start].start, words[c.end - 1].end, kind))
    covered = {i for i, t in enumerate(words) if any(a <= t.start and t.end <= b for a, b, _ in said)}
    rest = [t for i, t in enumerate(words) if i not in covered and t.norm not in linker.light]
    if len(said) != 1 or rest or any(t.norm in language().words["asking_yes_no"] for t in words[:1]):
        return None
    start, end, kind = said[0]
    last = earlier[-1].standalone
    old_words = tokens(last)
    if kind == "time":
        old = [(m.start(), m.end()) for m in time.finditer(last)]
    else:
        old = [
            (old_words[c.start].start, old_words[c.end - 1].end)
            for c in linker.link(old_words)
            if c.score >= 0.75 and (f"value {c.predicate}" if c.kind == "value" else c.kind) == kind
        ]
    if old:
        a, b = max(old, key=lambda o: o[1] - o[0])
        return Rewrite(last[:a] + phrase[start:end] + last[b:], True)
    return Rewrite(f"{last.rstrip('? .')} {phrase.strip()}", True) if kind != "class" else None


def _ordinal(words: Sequence[Token], last: Earlier) -> tuple[tuple[int, int], str, str] | None:
    """ "The second one" of the list that was just given; "the last one", "the other one" of two."""
    ordinals, known = resource()["ordinals"], language().words
    for i, token in enumerate(words):
        following = words[i + 1].norm if i + 1 < len(words) else ""
        alone = not following or following in known["stand_in"] or following in function_words()
        if not i or words[i - 1].norm not in known["article"] or not alone:
            continue
        n = ordinals.get(token.norm) or (
            len(last.keys)
            if token.norm in known["last"]
            else 2
            if token.norm in known["other"] and len(last.keys) == 2
            else 0
        )
        if n and 0 < n <= len(last.keys) and len(last.keys) > 1:
            end = i + 2 if following in known["stand_in"] else i + 1
            return (i - 1, end), last.keys[n - 1], last.labels[n - 1]
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


def _of_this_turn(words: Sequence[Token], at: int, linker: Linker) -> bool:
    """ "The oldest singer and his age": a possessive stands for what the turn asks for, where that is before it."""
    kinds = (c for c in linker.link(words) if c.kind == "class" and c.exact)
    return words[at].norm in language().words["possessive"] and any(c.end <= at for c in kinds)


def _resolved(question: str, words: Sequence[Token], at: int, earlier: tuple[Earlier, ...], linker: Linker) -> Rewrite:
    token = words[at]
    known = language().words
    many = token.norm in known["pronoun_many"] | known["pronoun_number"]
    meant = (_of_kind(words, at, earlier, linker) if token.norm in known["pronoun_many"] else None) or focus(
        earlier, many, linker, asked_nodes(words, at, linker)
    )
    if not meant.keys:
        return Rewrite(question)
    start, end = token.start, token.end
    if token.norm in known["there"]:
        return _replaced(question, start, end, f"in {meant.labels[0]}", meant.keys[0], meant)
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


def _asks_of_things(words: Sequence[Token]) -> bool:
    """ "Which is the cheapest": a choice among things that were named before."""
    chosen = any((m := measure(t)) is not None and m.degree == "superlative" for t in words)
    return (
        chosen
        and words[0].norm in language().words["choosing"]
        and not any(t.norm not in function_words() and measure(t) is None for t in words)
    )
