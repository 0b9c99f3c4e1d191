"""Learn how like questions are that the same plan answers: graphs, questions and wordings -> weights of likeness.

    python -m evaluation.verified_learn --data data --gold FOLDER [--count 10] [--seed 1]

FOLDER is as for `evaluation.verified_measure`. Of each graph `count` questions are verified; all others, and the
wordings of the verified ones, are compared with each of them. A pair is right if the verified plan, with the names of
the question, gives its gold answer. Each question is also asked with another name of the same class or property; its
gold answer is that of its own plan with this name. Wordings count `WORDING_WEIGHT` times. It needs the extra `learn`.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from evaluation.learn import fit_logistic
from evaluation.samples import plan_values
from evaluation.verified_measure import read_worded_questions, verified_entries
from nacre.errors import NacreError
from nacre.extensions.evaluation.questions import GoldQuestion
from nacre.extensions.evaluation.score import has_gold_values
from nacre.extensions.verified.offer import WEIGHTS_FILE, compare_verified
from nacre.extensions.verified.template import LinkedQuestion, Substitution, substitute, template_of
from nacre.records.json_form import from_json, to_json
from nacre.records.plan import Attribute, Body, Itself, Plan, Select, Variable
from nacre.records.turn import Rewrite, VerifiedQuestion
from nacre.stores.catalog import Graph, Library
from nacre.understanding.linking.link_mentions import linker_of, prepare_question
from nacre.understanding.understand import scoped_links, understand
from nacre.wording.profile import run_plan

# as many questions that people ask are wordings of verified ones as are not (given), and strength of regularisation
WORDING_WEIGHT, RIDGE = 3, 0.0005

LONGEST_NAME = 40


class AskedQuestion(NamedTuple):
    """A question with its gold answer, the plan that answers it, if one is known, and how often it counts."""

    text: str
    gold: GoldQuestion
    plan: Plan | None
    weight: int


class Pair(NamedTuple):
    """The features of a question and a verified one, and whether its plan answers the question."""

    features: dict[str, float]
    right: bool


def likeness_pairs(graph: Graph, folder: Path, count: int, seed: int) -> Iterator[Pair]:
    """The pairs of the questions and wordings of one graph."""
    draw, name = Random(f"{seed} {folder.name}"), f"{seed} {folder.name}"
    golds, wordings, able = read_worded_questions(folder)
    entries = verified_entries(able, graph, count, name)
    plans = {gold["id"]: entry.plan for gold, entry in verified_entries(golds, graph, len(golds), name)}
    by_id = {gold["id"]: gold for gold, _ in entries}
    asked = [AskedQuestion(g["question"], g, _plan(plans.get(g["id"])), 1) for g in golds if g["id"] not in by_id]
    asked += [
        AskedQuestion(each["question"], by_id[each["original"]], _plan(plans[each["original"]]), WORDING_WEIGHT)
        for each in wordings
        if each["original"] in by_id
    ]
    renamed = [other for each in asked if (other := with_other_name(each, graph, draw)) is not None]
    for each in (*asked, *renamed):
        for pair in _pairs(each, [entry for _, entry in entries], graph):
            yield from [pair] * each.weight


def with_other_name(asked: AskedQuestion, graph: Graph, draw: Random) -> AskedQuestion | None:
    """The question with another name in the place of one, answered by its plan with that name; None if it has none."""
    if asked.plan is None:
        return None
    entry = VerifiedQuestion("", asked.text, asked.text, to_json(asked.plan), None, "", "text", "", "", "")
    template = template_of(entry, graph.schema)
    if template is None or not template.names:
        return None
    slot = draw.choice(template.names)
    others = [each for each in _names(slot.thing, slot.text[0], graph) if slot.thing is None or each[1]]
    if not others:
        return None
    name, key = draw.choice(others)
    changed = (
        Substitution(texts={slot.text: name})
        if slot.thing is None
        else Substitution(things={slot.thing.keys: ((key,), name)})
    )
    plan = Plan(substitute(asked.plan.body, changed))
    values = plan_values(plan.body, graph.tables)
    if not values:
        return None
    tokens = template.question.tokens
    text = asked.text[: tokens[slot.start].start] + name + asked.text[tokens[slot.end - 1].end :]
    answers = [value for value in values if value is not None]
    return AskedQuestion(text, {"id": "", "question": text, "answers": answers}, plan, asked.weight)


def _names(thing: Variable | None, predicate: str, graph: Graph) -> list[tuple[str, str]]:
    """The names and keys of the other things of a class, or the texts of a property."""
    body: Body
    if thing is not None:
        body = Select((Itself(thing.name),), (replace(thing, keys=(), label=""),))
    elif predicate in graph.schema.predicate_of and graph.schema.predicate_of[predicate].domains:
        owner = next(iter(graph.schema.predicate_of[predicate].domains))
        body = Select((Attribute("owner", predicate),), (Variable("owner", (owner,)),))
    else:
        return []
    try:
        table, _, _ = run_plan(Plan(body), graph.tables, round=1)
    except NacreError:
        return []
    own = thing.keys if thing is not None else ()
    rows = zip(table.rows, table.keys, strict=True) if table is not None else ()
    named = ((row[0], keys[0] if keys else "") for row, keys in rows)
    return [
        (name, key) for name, key in named if isinstance(name, str) and 0 < len(name) < LONGEST_NAME and key not in own
    ]


def _pairs(asked: AskedQuestion, entries: Sequence[VerifiedQuestion], graph: Graph) -> Iterator[Pair]:
    linker = linker_of(graph.lexicon)
    readings = understand(Rewrite(asked.text), graph.schema, graph.lexicon).readings
    question = prepare_question(asked.text, linker)
    linked = LinkedQuestion(question, scoped_links(question, None, linker), linker.index.graph, readings)
    for _, alignment, features in compare_verified(entries, linked):
        values = plan_values(alignment.plan.body, graph.tables)
        yield Pair(features, values is not None and has_gold_values(asked.gold, values))


def _plan(data: Any) -> Plan | None:
    return from_json(Plan, data) if data is not None else None


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the weights, and print how many pairs they were learned from."""
    cli = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cli.add_argument("--data", type=Path, required=True)
    cli.add_argument("--gold", type=Path, required=True)
    cli.add_argument("--count", type=int, default=10)
    cli.add_argument("--seed", type=int, default=1)
    given = cli.parse_args(arguments)
    library, pairs = Library(given.data, None), list[Pair]()
    for file in sorted(given.gold.glob("*/questions.jsonl")):
        if file.parent.name in library.names():
            with library.open(file.parent.name) as graph:
                pairs += likeness_pairs(graph, file.parent, given.count, given.seed)
    weights = fit_logistic([pair.features for pair in pairs], [pair.right for pair in pairs], RIDGE)
    text = json.dumps({name: round(weight, 4) for name, weight in sorted(weights.items())}, indent=1)
    WEIGHTS_FILE.write_text(f"{text}\n", encoding="utf-8")
    sys.stdout.write(f"{len(pairs)} pairs, {sum(pair.right for pair in pairs)} right: {WEIGHTS_FILE}\n")


if __name__ == "__main__":
    main()
