"""Learn which span of which sentence answers: `reading.yaml` -> `nacre/texts/weights.json`.

    python -m nacre.evaluation.learning.text_answers [--write]

Each question is asked of the sentences of all texts together. The weights are those under which the right spans are
likeliest, or "none" where no text answers (conditional log-likelihood, L2); what they are worth is measured on texts
that they were not learned from.
"""

import json
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

from ingestion.read.documents import plain
from ingestion.verbalise.texts import SeenTexts, text_passages
from nacre.evaluation.verdict import is_right
from nacre.language.rank_sentences import rank_sentences
from nacre.records.answer import Value
from nacre.records.evidence import EvidenceSentence
from nacre.texts.answer import TEXT_WEIGHTS_FILE, span_candidates
from nacre.texts.expected_answer import expect_described_thing, expected_answer
from nacre.texts.value_spans import Span

READING = Path(__file__).with_name("reading.yaml")
# how strongly weights are drawn to 0 (chosen out of fold among 0.03, 0.1, 0.3, 1)
RIDGE = 0.1
WORDS = 300
TEXT_TARGET_PRECISION = 0.9
# fewer answers say nothing of a share
MIN_ANSWERED = 30
# an answer must at least be likelier than not (given)
MIN_THRESHOLD = 0.5
SEED = 5
# of the things of a kind so much is told; the rest are questions without an answer
FACT_SHARE = 0.75
JOINED_SHARE = 0.4
DAYS = {
    "2 May 1911": "1911-05-02",
    "19 July 2004": "2004-07-19",
    "June 1958": "1958-06",
    "30 October 1987": "1987-10-30",
}
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


class TextExample(NamedTuple):
    """A question: the features of its candidates, "none" last, and which of them are right; `values` are theirs."""

    text: str
    question: str
    features: tuple[Mapping[str, float], ...]
    right: tuple[bool, ...]
    values: tuple[object, ...]


def read_text_examples() -> list[TextExample]:
    """The questions of the file with their candidates."""
    read = yaml.safe_load(READING.read_text(encoding="utf-8"))
    texts = [text for each in read for text in ([each] if "title" in each else _of_kind(each, random.Random(SEED)))]
    sentences = [sentence for each in texts for sentence in _sentences(each)]
    found = []
    for each in texts:
        names = each.get("names", ())
        for clause, name in each.get("clauses", ()):
            chosen = [sentences[i] for i in rank_sentences(clause, sentences, WORDS)]
            spans, none = span_candidates(
                expect_described_thing(clause), chosen, [_named(s.text, names) for s in chosen]
            )
            right = [span.span.value == name for span in spans]
            features = (*(span.features for span in spans), none)
            values = (*(span.span.value for span in spans), None)
            found.append(TextExample(each["fold"], clause, features, (*right, not any(right)), values))
        for asked in each["ask"]:
            chosen = [sentences[i] for i in rank_sentences(asked["q"], sentences, WORDS)]
            spans, none = span_candidates(expected_answer(asked["q"]), chosen)
            right = ["is" in asked and _is_right(asked["is"], span.span.value) for span in spans]
            features = (*(span.features for span in spans), none)
            values = (*(span.span.value for span in spans), None)
            found.append(
                TextExample(each.get("fold", each["title"]), asked["q"], features, (*right, not any(right)), values)
            )
    return found


def _named(text: str, names: Sequence[str]) -> list[Span]:
    """Where a sentence names things."""
    return [Span(at, at + len(name), "thing", name) for name in names if (at := text.find(name)) >= 0]


def learn_text_weights(found: Sequence[TextExample]) -> dict[str, float]:
    """The weights under which the right candidates are likeliest."""
    from scipy.optimize import minimize

    names = sorted({name for each in found for features in each.features for name in features})
    place = {name: i for i, name in enumerate(names)}
    matrices = [_matrix(each, place) for each in found]
    rights = [np.array(each.right) for each in found]

    def loss(weights: Any) -> tuple[float, Any]:
        total, slope = RIDGE * float(weights @ weights), 2 * RIDGE * weights
        for matrix, right in zip(matrices, rights, strict=True):
            worth = matrix @ weights
            share = np.exp(worth - worth.max())
            all_, own = share / share.sum(), share * right / (share * right).sum()
            total -= float(np.log((share * right).sum() / share.sum()))
            slope = slope - matrix.T @ (own - all_)
        return total, slope

    made = minimize(loss, np.zeros(len(names)), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return {name: round(float(weight), 3) for name, weight in zip(names, made.x, strict=True) if abs(weight) >= 0.001}


def predict_value(each: TextExample, weights: Mapping[str, float]) -> tuple[object, float, bool]:
    """The likeliest value (None: no answer), its probability, and whether it is right."""
    worth = np.array([sum(weights.get(n, 0.0) * v for n, v in features.items()) for features in each.features])
    share = np.exp(worth - worth.max())
    share /= share.sum()
    whole: dict[object, float] = {}
    right: dict[object, bool] = {}
    for value, one, good in zip(each.values, share, each.right, strict=True):
        whole[value] = whole.get(value, 0.0) + float(one)
        right[value] = right.get(value, False) or good
    top = max(whole, key=lambda value: whole[value])
    return top, whole[top], right[top]


def out_of_fold(found: Sequence[TextExample]) -> list[tuple[TextExample, object, float, bool]]:
    """Each question answered with weights of the other texts."""
    judged = []
    # a text, or the things of one kind, at a time
    for text in dict.fromkeys(each.text for each in found):
        weights = learn_text_weights([each for each in found if each.text != text])
        judged += [(each, *predict_value(each, weights)) for each in found if each.text == text]
    return judged


def text_threshold(answered: Sequence[tuple[float, bool]]) -> float:
    """The lowest probability, in steps of a hundredth, from which on nine in ten answers are right at every step."""
    least = 1.0
    for step in range(99, 9, -1):
        above = [right for p, right in answered if p >= step / 100]
        if len(above) >= MIN_ANSWERED and sum(above) < TEXT_TARGET_PRECISION * len(above):
            break
        least = step / 100
    return max(MIN_THRESHOLD, least)


def main() -> None:
    """Print what the weights are worth; write them with --write."""
    found = read_text_examples()
    judged = out_of_fold(found)
    answered = [(p, right) for _, value, p, right in judged if value is not None]
    print(f"{len(found)} questions, {sum(right for *_, right in judged)} right out of fold")
    for least in (0.3, 0.5, 0.6, 0.7, 0.8, 0.9):
        above = [right for p, right in answered if p >= least]
        print(f"  answered with at least {least}: {len(above)}, right {sum(above) / max(1, len(above)):.1%}")
    for each, value, p, right in judged:
        if not right:
            reachable = any(each.right[:-1])
            print(f"  wrong: {each.question} {value!r} ({p:.2f}){'' if reachable else ' no span is right'}")
    if "--write" in sys.argv:
        made = {"threshold": text_threshold(answered), "features": learn_text_weights(found)}
        TEXT_WEIGHTS_FILE.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _of_kind(kind: Mapping[str, Any], chance: random.Random) -> list[dict[str, Any]]:
    """Texts about things of one kind: each other thing has a text of its own, in which others may be named too, the
    rest share one; all are one fold."""
    many: list[str] = []
    asked: list[dict[str, Any]] = []
    texts = []
    last: dict[str, str] = {}
    for i, name in enumerate(kind["names"]):
        values = {slot: chance.choice(fill) for slot, fill in FILL.items()} | {"name": name}
        # what is not told of a thing has no answer
        told = [line for line in kind["told"] if chance.random() < FACT_SHARE]
        own = [line["own"].format(**values) for line in told if i % 2]
        for line in told:
            said = line["many"].format(**values)
            if i % 2 == 0 and line["many"] in last and chance.random() < JOINED_SHARE:
                # what is told of two things in one sentence
                other = last.pop(line["many"])
                many.remove(other)
                said = said[0].lower() + said[1:] if said.startswith("The ") else said
                many.append(f"{other[:-1]}, and {said}")
            elif i % 2 == 0:
                many.append(said)
                last[line["many"]] = said
        for line in kind["told"]:
            answer = values[line["is"]]
            known = any(f"{{{line['is']}}}" in each["own" if i % 2 else "many"] for each in told)
            given = {"is": answer == "" if line["is"] == "may" else DAYS.get(answer, answer)} if known else {}
            asked.append({"q": line["ask"].format(name=name), **given})
        if own:
            # a text of one thing also speaks of others
            own += chance.sample(many, min(2, len(many)))
            chance.shuffle(own)
            texts.append({"title": name, "text": " ".join(own), "ask": [], "fold": kind["kind"]})
    clauses = _clauses(kind, many, chance)
    asked += [{"q": question} for question in kind["none"]]
    chance.shuffle(many)
    shared = {"title": f"A word on {kind['kind']}", "text": " ".join(many), "ask": asked, "fold": kind["kind"]}
    return [*texts, {**shared, "clauses": clauses, "names": kind["names"]}]


def _clauses(kind: Mapping[str, Any], many: Sequence[str], chance: random.Random) -> list[tuple[str, str | None]]:
    """What is told of one thing, without its name and some other word, with the name; and what is told of none."""
    found: list[tuple[str, str | None]] = []
    for line in many:
        named = [name for name in kind["names"] if name in line]
        words = line.replace(named[0], "").rstrip(".").split()
        words.pop(chance.randrange(len(words)))
        if len(named) == 1:
            found.append((" ".join(words), named[0]))
    for told in kind["told"]:
        values = {slot: chance.choice(fill) for slot, fill in FILL.items()} | {"name": "", "year": 2044, "n": 9999}
        values |= {"person": "Zoe Quint", "other": "Yan Perth", "price": 7777, "size": 8888, "long": 6666, "few": 5555}
        values |= {"place": "Atlantis", "colour": "plaid", "day": "2 May 2044", "why": "ghosts", "nick": "Zzz"}
        found.append((told["many"].format(**values).rstrip("."), None))
    return found


def _sentences(text: Mapping[str, Any]) -> list[EvidenceSentence]:
    told = text_passages(text["title"], plain.read_plain(text["text"]), SeenTexts())
    return [
        EvidenceSentence("lexical", 1, each.text, text["title"], 0.0, (), (), each.document, each.start, each.end)
        for passage in told
        for each in passage.sentences
    ]


def _is_right(gold: Value, value: Value) -> bool:
    record: Any = {"status": "answered", "values": [value]}
    return is_right({"id": 0, "question": "", "answers": [gold]}, record) or str(gold) == str(value)


def _matrix(each: TextExample, place: Mapping[str, int]) -> Any:
    matrix = np.zeros((len(each.features), len(place)))
    for row, features in enumerate(each.features):
        for name, value in features.items():
            matrix[row, place[name]] = value
    return matrix


if __name__ == "__main__":
    main()
