"""Learn which span of a text answers a question: `reading.yaml` -> `nacre/extensions/texts/weights.json`.

TextExamples are the questions about texts with their candidate answers.

    python -m evaluation.learn_text_answers [--write]

The weights maximise the conditional log-likelihood of the right spans, or of "no answer", with L2 regularisation.
The printed figures are out of fold: they are measured on texts that the weights were not learned from.

The file has texts with questions, and patterns of texts about the things of one kind. The texts of a pattern are
made with a fixed seed: values are drawn for each thing, and facts that are left out give questions without an
answer.
"""

import json
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from evaluation.learn import fit_log_linear
from ingestion import documents
from nacre.extensions.documents.passages import SeenTexts, text_passages
from nacre.extensions.evaluation.score import has_gold_values
from nacre.extensions.texts.answer import TEXT_WEIGHTS_FILE, SpanCandidate, span_candidates
from nacre.extensions.texts.spans import Span, expect_described_thing, expected_answer
from nacre.language.thesaurus import rank_sentences
from nacre.records.answer import Value
from nacre.records.evidence import EvidenceSentence

# strength of the regularisation (chosen out of fold among 0.03, 0.1, 0.3, 1)
RIDGE = 0.1

TEXT_TARGET_PRECISION = 0.9

# answers from which a precision is measured, at least
MIN_ANSWERED = 30

# an answer must be likelier right than wrong (given)
MIN_THRESHOLD = 0.5


class TextExample(NamedTuple):
    """A question with the features and values of its candidates, "no answer" last, and which of them are right. `text`
    is the fold: a text, or the kind of the things in it."""

    text: str
    question: str
    features: tuple[Mapping[str, float], ...]
    right: tuple[bool, ...]
    values: tuple[object, ...]


def learn_text_weights(examples: Sequence[TextExample]) -> dict[str, float]:
    """The weights under which the right candidates are likeliest."""
    judged = [(each.features, each.right) for each in examples if not all(each.right)]
    weights = fit_log_linear(judged, ridge=RIDGE / len(judged), is_scaled=False)
    return {name: round(weight, 3) for name, weight in weights.items() if abs(weight) >= 0.001}


def predict_value(example: TextExample, weights: Mapping[str, float]) -> tuple[object, float, bool]:
    """The likeliest value (None: no answer), its probability, and whether it is right."""
    score = np.array([sum(weights.get(n, 0.0) * v for n, v in features.items()) for features in example.features])
    belief = np.exp(score - score.max())
    belief /= belief.sum()
    probability: dict[object, float] = {}
    right: dict[object, bool] = {}
    for value, share, judged in zip(example.values, belief, example.right, strict=True):
        probability[value] = probability.get(value, 0.0) + float(share)
        right[value] = right.get(value, False) or judged
    best = max(probability, key=lambda value: probability[value])
    return best, probability[best], right[best]


def out_of_fold(examples: Sequence[TextExample]) -> list[tuple[TextExample, object, float, bool]]:
    """Each example answered with weights learned from the other folds."""
    judged = []
    for text in dict.fromkeys(each.text for each in examples):
        weights = learn_text_weights([each for each in examples if each.text != text])
        judged += [(each, *predict_value(each, weights)) for each in examples if each.text == text]
    return judged


def text_threshold(answered: Sequence[tuple[float, bool]]) -> float:
    """The lowest probability, in steps of 0.01, from which on every step reaches the target precision."""
    threshold = 1.0
    for step in range(99, 9, -1):
        above = [right for p, right in answered if p >= step / 100]
        if len(above) >= MIN_ANSWERED and sum(above) < TEXT_TARGET_PRECISION * len(above):
            break
        threshold = step / 100
    return max(MIN_THRESHOLD, threshold)


def main() -> None:
    """Print the figures out of fold; write the weights with --write."""
    examples = read_text_examples()
    judged = out_of_fold(examples)
    answered = [(p, right) for _, value, p, right in judged if value is not None]
    print(f"{len(examples)} questions, {sum(right for *_, right in judged)} right out of fold")
    for threshold in (0.3, 0.5, 0.6, 0.7, 0.8, 0.9):
        above = [right for p, right in answered if p >= threshold]
        print(f"  answered with at least {threshold}: {len(above)}, right {sum(above) / max(1, len(above)):.1%}")
    for each, value, p, right in judged:
        if not right:
            has_right_span = any(each.right[:-1])
            print(f"  wrong: {each.question} {value!r} ({p:.2f}){'' if has_right_span else ' no span is right'}")
    if "--write" in sys.argv:
        learned = {"threshold": text_threshold(answered), "features": learn_text_weights(examples)}
        TEXT_WEIGHTS_FILE.write_text(json.dumps(learned, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


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
    fold: str, question: str, candidates: Sequence[SpanCandidate], none: Mapping[str, float], right: Sequence[bool]
) -> TextExample:
    features = (*(candidate.features for candidate in candidates), none)
    values = (*(candidate.span.value for candidate in candidates), None)
    return TextExample(fold, question, features, (*right, not any(right)), values)


def _name_spans(text: str, names: Sequence[str]) -> list[Span]:
    return [Span(at, at + len(name), "thing", name) for name in names if (at := text.find(name)) >= 0]


def _make_texts(kind: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Texts about the things of one kind, which form one fold. Every second thing has a text of its own, in which
    others are also mentioned; the rest share one text."""
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
    passages = text_passages(text["title"], documents.read_plain(text["text"]), SeenTexts())
    return [
        EvidenceSentence("lexical", 1, each.text, text["title"], 0.0, (), (), each.document, each.start, each.end)
        for passage in passages
        for each in passage.sentences
    ]


def _is_right(gold: Value, value: Value) -> bool:
    return has_gold_values({"id": 0, "question": "", "answers": [gold]}, [value]) or str(gold) == str(value)


if __name__ == "__main__":
    main()
