"""Questions about texts with their candidate answers: `reading.yaml` -> TextExamples.

The file has texts with questions, and patterns of texts about the things of one kind. The texts of a pattern are made
with a fixed seed: values are drawn for each thing, and facts that are left out give questions without an answer.
"""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from ingestion.read.documents import plain
from ingestion.verbalise.texts import SeenTexts, text_passages
from nacre.evaluation.verdict import is_right
from nacre.language.rank_sentences import rank_sentences
from nacre.records.answer import Value
from nacre.records.evidence import EvidenceSentence
from nacre.texts.answer import SpanCandidate, span_candidates
from nacre.texts.expected_answer import expect_described_thing, expected_answer
from nacre.texts.value_spans import Span

READING = Path(__file__).with_name("reading.yaml")
SEED = 5
# words of the sentences in which an answer is looked for, at most
MAX_WORDS = 300
# share of the facts of a thing that the texts state, and of those that share a sentence with another thing
FACT_SHARE = 0.75
JOINED_SHARE = 0.4
# sentences about other things in a text about one thing, at most
_MAX_OTHER_SENTENCES = 2
DAYS = {
    "2 May 1911": "1911-05-02",
    "19 July 2004": "2004-07-19",
    "June 1958": "1958-06",
    "30 October 1987": "1987-10-30",
}
# values for the slots of a pattern
FILL: dict[str, Sequence[Any]] = {
    "n": range(30, 900),
    "year": range(1870, 2020),
    "price": (9.5, 12, 48, 75.2, 110, 131),
    "size": range(12, 60),
    "long": range(60, 900),
    "few": range(2, 9),
    "person": ("Ada Brandt", "Ben Okoro", "Cleo Marsh", "Dag Holm", "Eva Sorel", "Finn Adler"),
    "other": ("Gus Petty", "Hana Weir", "Ivar Lund", "Jo Keller", "Kit Osman", "Lea Brook"),
    "place": ("Ravenna", "Old Tarbet", "Lisse", "Brunnen", "Port Hale", "Novi Grad"),
    "colour": ("green", "dark red", "white", "sand yellow", "blue"),
    "day": tuple(DAYS),
    "why": ("a flood", "rotten planks", "a strike of the painters", "broken chains"),
    "nick": ("Foxy", "The Wall", "Little Thunder", "Spoon"),
    "may": ("", "not "),
}
# values that no text has
_UNKNOWN: dict[str, Any] = {
    "name": "",
    "year": 2044,
    "n": 9999,
    "person": "Zoe Quint",
    "other": "Yan Perth",
    "price": 7777,
    "size": 8888,
    "long": 6666,
    "few": 5555,
    "place": "Atlantis",
    "colour": "plaid",
    "day": "2 May 2044",
    "why": "ghosts",
    "nick": "Zzz",
}


class TextExample(NamedTuple):
    """A question with the features and values of its candidates, "no answer" last, and which of them are right.

    `text` is the fold: a text, or the kind of the things in it.
    """

    text: str
    question: str
    features: tuple[Mapping[str, float], ...]
    right: tuple[bool, ...]
    values: tuple[object, ...]


def read_text_examples() -> list[TextExample]:
    """The questions of the file, each asked of the sentences of all texts."""
    entries = yaml.safe_load(READING.read_text(encoding="utf-8"))
    texts = [text for each in entries for text in ([each] if "title" in each else _make_texts(each))]
    sentences = [sentence for each in texts for sentence in _sentences(each)]
    examples = []
    for each in texts:
        fold, names = each.get("fold", each["title"]), each.get("names", ())
        for clause, name in each.get("clauses", ()):
            best = [sentences[i] for i in rank_sentences(clause, sentences, MAX_WORDS)]
            given = [_name_spans(sentence.text, names) for sentence in best]
            candidates, none = span_candidates(expect_described_thing(clause), best, given)
            right = [candidate.span.value == name for candidate in candidates]
            examples.append(_example(fold, clause, candidates, none, right))
        for line in each["ask"]:
            best = [sentences[i] for i in rank_sentences(line["q"], sentences, MAX_WORDS)]
            candidates, none = span_candidates(expected_answer(line["q"]), best)
            right = ["is" in line and _is_right(line["is"], candidate.span.value) for candidate in candidates]
            examples.append(_example(fold, line["q"], candidates, none, right))
    return examples


def _example(
    fold: str,
    question: str,
    candidates: Sequence[SpanCandidate],
    none: Mapping[str, float],
    right: Sequence[bool],
) -> TextExample:
    features = (*(candidate.features for candidate in candidates), none)
    values = (*(candidate.span.value for candidate in candidates), None)
    return TextExample(fold, question, features, (*right, not any(right)), values)


def _name_spans(text: str, names: Sequence[str]) -> list[Span]:
    return [Span(at, at + len(name), "thing", name) for name in names if (at := text.find(name)) >= 0]


def _make_texts(kind: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Texts about the things of one kind, which form one fold.

    Every second thing has a text of its own, in which others are also mentioned; the rest share one text.
    """
    chance = random.Random(SEED)
    shared: list[str] = []
    questions: list[dict[str, Any]] = []
    texts = []
    last: dict[str, str] = {}
    for i, name in enumerate(kind["names"]):
        has_own_text = bool(i % 2)
        values = {slot: chance.choice(fill) for slot, fill in FILL.items()} | {"name": name}
        stated = [line for line in kind["told"] if chance.random() < FACT_SHARE]
        own = [line["own"].format(**values) for line in stated if has_own_text]
        for line in stated:
            sentence = line["many"].format(**values)
            if not has_own_text and line["many"] in last and chance.random() < JOINED_SHARE:
                # one sentence about two things
                other = last.pop(line["many"])
                shared.remove(other)
                sentence = sentence[0].lower() + sentence[1:] if sentence.startswith("The ") else sentence
                shared.append(f"{other[:-1]}, and {sentence}")
            elif not has_own_text:
                shared.append(sentence)
                last[line["many"]] = sentence
        questions += [_question(line, values, stated, "own" if has_own_text else "many") for line in kind["told"]]
        if own:
            own += chance.sample(shared, min(_MAX_OTHER_SENTENCES, len(shared)))
            chance.shuffle(own)
            texts.append({"title": name, "text": " ".join(own), "ask": [], "fold": kind["kind"]})
    clauses = _clauses(kind, shared, chance)
    questions += [{"q": question} for question in kind["none"]]
    chance.shuffle(shared)
    title = f"A word on {kind['kind']}"
    joint = {"title": title, "text": " ".join(shared), "ask": questions, "fold": kind["kind"]}
    return [*texts, {**joint, "clauses": clauses, "names": kind["names"]}]


def _question(
    line: Mapping[str, str], values: Mapping[str, Any], stated: Sequence[Mapping[str, str]], wording: str
) -> dict[str, Any]:
    """The question of a line about a thing, with its answer if a stated line has it."""
    slot = line["is"]
    value = values[slot]
    is_known = any(f"{{{slot}}}" in each[wording] for each in stated)
    answer = {"is": value == "" if slot == "may" else DAYS.get(value, value)} if is_known else {}
    return {"q": line["ask"].format(name=values["name"]), **answer}


def _clauses(kind: Mapping[str, Any], sentences: Sequence[str], chance: random.Random) -> list[tuple[str, str | None]]:
    """Clauses about one thing without its name and one other word, with the name; and clauses about none."""
    clauses: list[tuple[str, str | None]] = []
    for sentence in sentences:
        named = [name for name in kind["names"] if name in sentence]
        words = sentence.replace(named[0], "").rstrip(".").split()
        words.pop(chance.randrange(len(words)))
        if len(named) == 1:
            clauses.append((" ".join(words), named[0]))
    for line in kind["told"]:
        values = {slot: chance.choice(fill) for slot, fill in FILL.items()} | _UNKNOWN
        clauses.append((line["many"].format(**values).rstrip("."), None))
    return clauses


def _sentences(text: Mapping[str, Any]) -> list[EvidenceSentence]:
    passages = text_passages(text["title"], plain.read_plain(text["text"]), SeenTexts())
    return [
        EvidenceSentence("lexical", 1, each.text, text["title"], 0.0, (), (), each.document, each.start, each.end)
        for passage in passages
        for each in passage.sentences
    ]


def _is_right(gold: Value, value: Value) -> bool:
    record: Any = {"status": "answered", "values": [value]}
    return is_right({"id": 0, "question": "", "answers": [gold]}, record) or str(gold) == str(value)
