"""Reword questions: a file of questions -> five rewordings of some of them, with the same gold answers.

    python -m nacre.evaluation.synthetic.reword QUESTIONS --seed 1 --count 30 --out REWORDED.jsonl

Only questions without an earlier turn are used. Each line has its `original` and its kind of `rewording`. The same seed
gives the same lines.
"""

import argparse
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random

import simplemma

from nacre.evaluation.questions import GoldQuestion, read_gold_questions, standalone_questions
from nacre.evaluation.synthetic.reorder import word_orders
from nacre.evaluation.synthetic.rewording_data import (
    first_word,
    lower_first_word,
    rewording_data,
    rewording_words,
    strip_question_mark,
)
from nacre.language.thesaurus import function_words

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
            if wrong != word and not simplemma.is_known(wrong.casefold(), lang="en"):
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
    """Write the rewordings."""
    command = argparse.ArgumentParser(
        prog="python -m nacre.evaluation.synthetic.reword", description="Reword questions."
    )
    command.add_argument("questions", type=Path)
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--count", type=int, default=30, help="how many questions to reword, five times each")
    command.add_argument("--out", type=Path, required=True)
    options = command.parse_args()
    lines = reword_questions(read_gold_questions(options.questions), options.seed, options.count)
    options.out.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
