"""Reword questions: a file of questions -> five rewordings of some of them, with the same gold answers.

In order: rewordings, phrases moved, and the words and patterns of `rewordings.yaml`; the share of answers that stay
right.

    python -m evaluation.reword QUESTIONS --seed 1 --count 30 --out REWORDED.jsonl
    python -m evaluation.reword QUESTIONS --answers PREDICTIONS REWORDED PREDICTIONS_OF_REWORDED [--failing]

Only questions without an earlier turn are used. Each line has its `original` and its kind of `rewording`. The same
seed gives the same lines. With `--failing` the rewordings with a wrong answer to a question with a right answer are
listed: the kind, both wordings, the expected and the given answer.

A phrase is moved only if it cannot attach to another word, so each rule applies to few questions."""

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import yaml

from nacre.extensions.evaluation.questions import GoldQuestion, read_gold_questions, standalone_questions
from nacre.extensions.evaluation.score import AnswersById, read_answers, right_ids
from nacre.language.thesaurus import function_words
from nacre.language.tokens import is_known, lemma

REWORDINGS_EACH = 5
_WORD = re.compile(r"[^\W\d_]+")

Rewording = Callable[[str, Random], str | None]


def rewordings(question: str, seed: str) -> Iterator[tuple[str, str]]:
    """Five different rewordings with their kinds: one of each applicable kind, then more of the same kinds.

    >>> dict(rewordings("What is the capital of Peru?", "1"))["order"]
    'Peru: what is its capital?'
    """
    known, draw = {question}, Random(seed)
    for _ in range(REWORDINGS_EACH):
        for kind, reword in KINDS.items():
            other = reword(question.strip(), draw)
            if other is not None and other not in known and len(known) <= REWORDINGS_EACH:
                known.add(other)
                yield kind, other


def add_typo(question: str, draw: Random) -> str | None:
    """One content word with two letters swapped, one left out or one doubled; the first letter stays.

    >>> add_typo("the capital", Random(2))
    'the cpaital'
    """
    words = [m for m in _WORD.finditer(question) if len(m[0]) >= 6 and m[0].casefold() not in function_words()]
    words = [m for m in words if not re.match(r"[\d_]", question[m.end() : m.end() + 1] or " ")]
    draw.shuffle(words)
    for match in words:
        word = match[0]
        for _ in range(REWORDINGS_EACH):
            i = draw.randrange(1, len(word) - 1)
            wrong = draw.choice(
                (
                    word[:i] + word[i + 1] + word[i] + word[i + 2 :],
                    word[:i] + word[i + 1 :],
                    word[: i + 1] + word[i] + word[i + 1 :],
                )
            )
            # a typo that gives another word would ask something else
            if wrong != word and not is_known(wrong.casefold(), lang="en"):
                return question[: match.start()] + wrong + question[match.end() :]
    return None


def reorder_words(question: str, draw: Random) -> str | None:
    """The same words in another order, if one of the rules of `reorder` applies.

    >>> reorder_words("Which country is Ann Lee from?", Random(1))
    'From which country is Ann Lee?'
    """
    others = word_orders(strip_question_mark(question))
    return draw.choice(others) if others else None


def replace_synonym(question: str, draw: Random) -> str | None:
    """One phrase of general English replaced by a synonym.

    >>> replace_synonym("how old is Ann Lee", Random(1))
    'what is the age of Ann Lee?'
    """
    others = []
    for pattern, other in rewording_data()["synonyms"]:
        changed, times = re.subn(pattern, other, strip_question_mark(question), count=1, flags=re.IGNORECASE)
        if times:
            changed = changed[0].upper() + changed[1:] if question[0].isupper() else changed
            others.append(changed if first_word(changed) in rewording_words("orders") else f"{changed}?")
    return draw.choice(others) if others else None


def make_polite(question: str, draw: Random) -> str | None:
    """The question as a request.

    >>> make_polite("Name a river", Random(1))
    'Would you please name a river?'
    """
    first = first_word(question)
    kind = (
        "order" if first in rewording_words("orders") else "question" if first in rewording_words("asking") else "other"
    )
    return str(draw.choice(rewording_data()["polite"][kind])).format(lower_first_word(strip_question_mark(question)))


def add_filler(question: str, draw: Random) -> str | None:
    """The question between filler words.

    >>> add_filler("How old is Ann?", Random(4))
    'right, quick one: how old is Ann? cheers'
    """
    return str(draw.choice(rewording_data()["filler"])).format(lower_first_word(strip_question_mark(question)))


KINDS: dict[str, Rewording] = {
    "typo": add_typo,
    "order": reorder_words,
    "synonym": replace_synonym,
    "polite": make_polite,
    "filler": add_filler,
}


def reword_questions(questions: Sequence[GoldQuestion], seed: int, count: int) -> list[GoldQuestion]:
    """The rewordings of `count` questions, drawn from those without an earlier turn, in the order of the file."""
    single = standalone_questions(list(questions))
    chosen = sorted(Random(seed).sample(range(len(single)), min(count, len(single))))
    lines: list[GoldQuestion] = []
    for gold in (single[i] for i in chosen):
        for n, (kind, other) in enumerate(rewordings(gold["question"], f"{seed}:{gold['id']}"), start=1):
            line: GoldQuestion = {**gold, "id": f"{gold['id']}~{n}", "question": other, "conversation": None}
            lines.append({**line, "original": gold["id"], "rewording": kind})
    return lines


def main() -> None:
    """Write the rewordings, or print how many answers stay right."""
    command = argparse.ArgumentParser(prog="python -m evaluation.reword", description="Reword questions.")
    command.add_argument("questions", type=Path)
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--count", type=int, default=30, help="how many questions to reword, five times each")
    what = command.add_mutually_exclusive_group(required=True)
    what.add_argument("--out", type=Path)
    names = ("PREDICTIONS", "REWORDED", "PREDICTIONS_OF_REWORDED")
    what.add_argument("--answers", type=Path, nargs=3, metavar=names, help="measure the answers to rewordings")
    command.add_argument("--failing", action="store_true", help="list the rewordings that are answered wrong")
    options = command.parse_args()
    if options.answers:
        print_robustness(options.questions, options.answers[0], options.answers[1:], failing=options.failing)
        return
    lines = reword_questions(read_gold_questions(options.questions), options.seed, options.count)
    options.out.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")


# words at the beginning of a name after "the" that may be its plural head
_MAX_HEAD_WORDS = 4


def word_orders(question: str) -> list[str]:
    """All other orders of a question without its question mark.

    >>> word_orders("which country is Ann Lee from")
    ['From which country is Ann Lee?']
    """
    return [other for rule in RULES if (other := rule(question)) is not None]


def _move_preposition_first(question: str) -> str | None:
    """ "which X is Y from" -> "from which X is Y"."""
    match = _pattern("final_preposition").fullmatch(question)
    return f"{match[2].capitalize()} {lower_first_word(match[1])}?" if match else None


def _move_preposition_last(question: str) -> str | None:
    """ "from which X is Y" -> "which X is Y from"."""
    match = _pattern("initial_preposition").fullmatch(question)
    return f"{match[2]} {match[1].casefold()}?" if match else None


def _move_owner_first(question: str) -> str | None:
    """ "what is the P of X" -> "X: what is its P"; X is one thing without further phrases."""
    match = _pattern("property_of").fullmatch(question)
    if match is None or first_word(question) in rewording_words("orders") or _pattern("preposition").search(match[1]):
        return None
    owner = match[2].split()
    first = owner[0].casefold()
    head = owner[: 1 if first != "the" else _MAX_HEAD_WORDS]
    is_plural = any(w.islower() and w.endswith("s") and lemma(w) != w for w in head)
    is_narrowed = first != "the" and _pattern("preposition").search(match[2])
    is_quantified = first in rewording_words("quantifiers") or first_word(match[1]) in rewording_words("asking")
    if is_plural or is_narrowed or is_quantified or _pattern("measure").search(match[1]):
        return None
    return f"{match[2]}: what is its {lower_first_word(match[1])}?"


def _move_phrase_first(question: str) -> str | None:
    """ "what is the N in X" -> "in X, what is the N": the only prepositional phrase, after a verb that may have one."""
    match = _pattern("final_phrase").fullmatch(question)
    if match is None or _pattern("clause").search(match[3]) or len(_pattern("preposition").findall(question)) > 1:
        return None
    head, last = match[1], match[1].split()[-1].casefold()
    if _pattern("count_of_things").match(head):
        head += " there"
    elif not (_pattern("definite_question").match(head) or last in rewording_words("standing")):
        return None
    if _pattern("relative_clause").search(head.split(" ", 1)[-1]):
        return None
    return f"{match[2].capitalize()} {match[3]}, {lower_first_word(head)}?"


def _move_subject_first(question: str) -> str | None:
    """ "what is the N" -> "the N, what is that"; "how old is X" -> "X: how old"."""
    match = _pattern("definite_subject").fullmatch(question)
    if match is not None and not _pattern("ends_in_preposition").search(match[3]):
        verb = "is that" if match[2].casefold() == "is" else "are they"
        question_word = match[1].casefold()
        return f"{match[3][0].upper()}{match[3][1:]}, {question_word} {verb}?"
    match = _pattern("degree").fullmatch(question)
    if match is not None and not match[1].casefold().endswith((" many", " much")):
        return None if _pattern("clause").search(match[2]) else f"{match[2]}: {lower_first_word(match[1])}?"
    return None


@cache
def _pattern(name: str) -> re.Pattern[str]:
    data = rewording_data()
    prepositions = "|".join(data["movable_prepositions"].split())
    return re.compile(data["patterns"][name].replace("<prepositions>", prepositions), re.IGNORECASE)


RULES: tuple[Callable[[str], str | None], ...] = (
    _move_preposition_first,
    _move_preposition_last,
    _move_owner_first,
    _move_phrase_first,
    _move_subject_first,
)


def strip_question_mark(question: str) -> str:
    """A question without the punctuation at its end."""
    return question.strip().rstrip("?.! ")


def first_word(question: str) -> str:
    """The first word in small letters, without "'s".

    >>> first_word("What's new?")
    'what'
    """
    return re.split(r"[\s'’,:]", question.strip(), maxsplit=1)[0].casefold()


def lower_first_word(question: str) -> str:
    """The question within a sentence: its first word is in small letters, unless it is a name.

    >>> lower_first_word("Which river"), lower_first_word("Xylo river")
    ('which river', 'Xylo river')
    """
    known = is_known(first_word(question), lang="en")
    return question[0].lower() + question[1:] if known else question


@cache
def rewording_words(name: str) -> frozenset[str]:
    """A word list of the file."""
    return frozenset(rewording_data()[name].split())


@cache
def rewording_data() -> dict[str, Any]:
    """The content of `rewordings.yaml`."""
    path = Path(__file__).with_name("rewordings.yaml")
    data: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return data


# values and characters of an answer that are shown, at most
_MAX_VALUES, _MAX_LETTERS = 6, 160


class RobustnessLine(NamedTuple):
    """The rewordings of one kind of questions with a right answer, and how many of them stay right."""

    rewording: str
    asked: int
    right: int


def robustness_lines(reworded: Sequence[GoldQuestion], before: set[Any], after: set[Any]) -> list[RobustnessLine]:
    """A line for each kind of rewording, then one for all; `before` and `after` are the ids answered right."""
    counted = [gold for gold in reworded if gold["original"] in before]
    kinds = sorted({gold["rewording"] for gold in counted})
    groups = [(kind, [g for g in counted if g["rewording"] == kind]) for kind in kinds]
    return [
        RobustnessLine(kind, len(group), sum(gold["id"] in after for gold in group))
        for kind, group in [*groups, ("together", counted)]
    ]


def failing_rewordings(
    questions: Sequence[GoldQuestion], reworded: Sequence[GoldQuestion], answers: AnswersById, lost: set[Any]
) -> list[str]:
    """A few lines of text for each rewording whose id is in `lost`."""
    originals = {gold["id"]: gold["question"] for gold in questions}
    texts = []
    for gold in (gold for gold in reworded if gold["id"] in lost):
        given = "no record"
        if record := answers.get(gold["id"]):
            given = f"{record['status']}, {record['values'][:_MAX_VALUES]}, {record['answer'][:_MAX_LETTERS]!r}"
        gold_answers = [gold.get("answers"), gold.get("must_include"), gold.get("nuggets")]
        expected = str(next((each for each in gold_answers if each), "nothing"))[:_MAX_LETTERS]
        texts.append(
            f"{gold['rewording']}: {gold['question']}\n  at first: {originals.get(gold['original'], '')}\n"
            f"  expected: {expected}\n  given: {given}\n"
        )
    return texts


def print_robustness(questions: Path, predictions: Path, others: Sequence[Path], *, failing: bool) -> None:
    """Print the table, and on request the failing rewordings; `others` are the rewordings and the answers to them."""
    asked, reworded = read_gold_questions(questions), read_gold_questions(others[0])
    answers = read_answers(others[1])
    before, after = right_ids(asked, read_answers(predictions)), right_ids(reworded, answers)
    sys.stdout.write(f"{'rewording':<12}{'asked':>7}{'right':>7}\n")
    for line in robustness_lines(reworded, before, after):
        share = f"{line.right / line.asked:.1%}" if line.asked else ""
        sys.stdout.write(f"{line.rewording:<12}{line.asked:>7}{line.right:>7}{share:>8}\n")
    if failing:
        lost = {gold["id"] for gold in reworded if gold["original"] in before} - after
        sys.stdout.write("\n" + "\n".join(failing_rewordings(asked, reworded, answers, lost)))


if __name__ == "__main__":
    main()
