"""Make questions unanswerable: a graph, questions and their answers -> the graph without the facts of these answers.

    python -m evaluation.unanswerable GRAPH.nt QUESTIONS PREDICTIONS --count 20 --out REDUCED.nq \
        --asked REMOVED.jsonl
    python -m evaluation.unanswerable GRAPH.nt QUESTIONS [--count 20] [--seed 1] [--each]

Only questions with a right answer by a lookup are used, since counts and rankings have an answer over any graph. The
questions whose facts are removed are written to the file of `--asked`: ask them of the reduced graph, and read the
right statuses in the report of `evaluation.score`. All facts are removed from one graph, so a question may also lose
facts of its own because of another question.

Without PREDICTIONS it is measured how often a removed fact is missed: the questions are asked of the whole graph; then
the facts of some right look-ups are removed, and these questions are asked again of what is left. All stores are
written to a temporary folder."""

import argparse
import json
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from random import Random

import pyoxigraph as ox

from evaluation.bundled_sets import answers_by
from nacre.extensions.evaluation.questions import GoldQuestion, is_answerable, read_gold_questions, standalone_questions
from nacre.extensions.evaluation.score import AnswersById, is_right, normalise_words, read_answers
from nacre.language.quantities import find_quantities
from nacre.records.answer import Answer, Value

_NO_LOOKUP = re.compile(r"\b(?:count|sum|avg|min|max|rank)\(|\bHAVING\b|\bLIMIT\b|\bNOT (?!NULL)", re.IGNORECASE)


RDF_TYPE = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")


class QuadIndex:
    """The quads of a graph by the things at their ends, without classes, and things by their literals."""

    def __init__(self, quads: Iterable[ox.Quad]) -> None:
        self.quads = list(quads)
        self.around: dict[str, list[ox.Quad]] = defaultdict(list)
        self.named: dict[str, set[str]] = defaultdict(set)
        for quad in self.quads:
            # the class of a thing is not what is asked of it
            if quad.predicate == RDF_TYPE:
                continue
            self.around[_text(quad.subject)].append(quad)
            if isinstance(quad.object, ox.Literal):
                self.named[normalise_words(quad.object.value)].add(_text(quad.subject))
            else:
                self.around[_text(quad.object)].append(quad)

    def facts_of(self, record: Answer) -> set[ox.Quad]:
        """The quads that end at a value of the answer. These are the cited quads, and those at the start of the lookup
        or one link further, since facts are often stated twice."""
        starts = _start_things(record)
        cited = {tuple(triple) for citation in record["citations"] for triple in citation["triples"]}
        ends = [(value, self._things_named(value) - starts) for value in record["values"]]
        nearby = {_other_end(quad, start) for start in starts for quad in self.around[start]} - {""}
        near = {quad for each in starts | nearby for quad in self.around[each] if _ends_at_value(quad, each, ends)}
        return near | {
            quad
            for quad in self.quads
            if quad.predicate != RDF_TYPE
            and (_text(quad.subject), quad.predicate.value, _text(quad.object)) in cited
            and any(_ends_at_value(quad, _text(end), ends) for end in (quad.subject, quad.object))
        }

    def _things_named(self, value: Value) -> set[str]:
        return self.named.get(normalise_words(value), set()) if isinstance(value, str) else set()


def remove_answers(
    facts: QuadIndex, questions: Sequence[GoldQuestion], answers: AnswersById, count: int, seed: int
) -> tuple[set[ox.Quad], list[GoldQuestion]]:
    """The quads to remove, and the questions that then have no answer."""
    removed: set[ox.Quad] = set()
    unanswerable: list[GoldQuestion] = []
    candidates = list(_lookup_questions(questions, answers))
    Random(seed).shuffle(candidates)
    for gold in candidates:
        quads = facts.facts_of(answers[gold["id"]])
        if quads and len(unanswerable) < count:
            removed |= quads
            unanswerable.append({"id": gold["id"], "question": gold["question"], "answers": [], "type": "removed"})
    return removed, unanswerable


def write_unanswerable(
    graph: Path, questions: Path, answers: AnswersById, count: int, seed: int, reduced: Path, asked: Path
) -> list[GoldQuestion]:
    """Write a graph without the facts of `count` right look-ups as N-Quads, and these questions as JSONL."""
    facts = QuadIndex(ox.parse(path=str(graph)))
    removed, unanswerable = remove_answers(facts, read_gold_questions(questions), answers, count, seed)
    ox.serialize((quad for quad in facts.quads if quad not in removed), str(reduced), ox.RdfFormat.N_QUADS)
    lines = (json.dumps(gold, ensure_ascii=False) + "\n" for gold in unanswerable)
    asked.write_text("".join(lines), encoding="utf-8")
    return unanswerable


def _lookup_questions(questions: Sequence[GoldQuestion], answers: AnswersById) -> Iterator[GoldQuestion]:
    for gold in standalone_questions(list(questions)):
        record = answers.get(gold["id"])
        # the facts of yes/no answers and descriptions can't be delimited
        if record is None or not is_answerable(gold) or gold.get("nuggets") or not is_right(gold, record):
            continue
        if (
            _start_things(record)
            and record["values"]
            and not any(isinstance(value, bool) for value in record["values"])
        ):
            yield gold


def _start_things(record: Answer) -> set[str]:
    """The things at which the cited queries start; none if one of the queries does more than a lookup."""
    cited = {citation["query"] for citation in record["citations"]}
    queries = [query for query in record["queries"] if query["i"] in cited]
    if any(_NO_LOOKUP.search(query["text"]) for query in queries):
        return set()
    return {str(param) for query in queries for param in query["params"] if re.match(r"\w+:|_:", str(param))}


def _ends_at_value(quad: ox.Quad, start: str, ends: Sequence[tuple[Value, set[str]]]) -> bool:
    other = _other_end(quad, start)
    if other:
        return any(other in things for _, things in ends)
    # the literals of values that name things are names as well
    return any(not things and _is_value(_text(quad.object), value) for value, things in ends)


def _other_end(quad: ox.Quad, start: str) -> str:
    """The thing at the other end; "" for a literal."""
    if isinstance(quad.object, ox.Literal):
        return ""
    return _text(quad.object) if _text(quad.subject) == start else _text(quad.subject)


def _text(term: object) -> str:
    return term.value if isinstance(term, ox.NamedNode | ox.BlankNode | ox.Literal) else str(term)


def _is_value(text: str, value: Value) -> bool:
    if isinstance(value, str):
        return normalise_words(text) == normalise_words(value)
    return any(abs(quantity.value - value) < 1e-9 for quantity in find_quantities(text))


def removed_report(asked: Sequence[GoldQuestion], answers: AnswersById, each: bool = False) -> str:
    """How many of the questions got no value, and their statuses; with `each`, a line for every question."""
    records = [answers[gold["id"]] for gold in asked]
    statuses = Counter((record["status"], bool(record["values"])) for record in records)
    counts = ", ".join(
        f"{status} {count}{' with a value' if has_value else ''}"
        for (status, has_value), count in sorted(statuses.items())
    )
    lines = [
        f"{'value' if record['values'] else 'none '} | {record['status']} | {record['question']} | {record['answer']}"
        for record in records
        if each
    ]
    total = f"{sum(not record['values'] for record in records)} of {len(records)} without a value: {counts}"
    return "\n".join((*lines, total)) + "\n"


def measure_removed(graph: Path, questions: Path, count: int, seed: int, folder: Path, each: bool = False) -> str:
    """Ask, remove the facts of `count` right look-ups, ask these again, and report."""
    answers = _ask(graph, questions, "whole", folder)
    reduced, asked = folder / "reduced.nq", folder / "unanswerable.jsonl"
    unanswerable = write_unanswerable(graph, questions, answers, count, seed, reduced, asked)
    return removed_report(unanswerable, _ask(reduced, asked, "reduced", folder), each)


def _ask(graph: Path, questions: Path, name: str, folder: Path) -> AnswersById:
    """Ingest a graph, and the answers of the rules to all questions."""
    sources = (str(graph), "--no-vectors")
    return answers_by("rules", name, questions, folder / f"{name}.jsonl", folder / "data", sources)


def main() -> None:
    """Write the reduced graph and its questions, or print how often a removed fact is missed."""
    command = argparse.ArgumentParser(
        prog="python -m evaluation.unanswerable", description="Make questions unanswerable."
    )
    command.add_argument("graph", type=Path)
    command.add_argument("questions", type=Path)
    command.add_argument("predictions", type=Path, nargs="?", help="without it, the questions are asked and measured")
    command.add_argument("--count", type=int, default=20, help="how many questions to make unanswerable")
    command.add_argument("--seed", type=int, default=1)
    command.add_argument("--out", type=Path, help="the reduced graph, as N-Quads")
    command.add_argument("--asked", type=Path, help="the questions that it can't answer")
    command.add_argument("--each", action="store_true", help="print every question with its answer")
    options = command.parse_args()
    if options.predictions is None:
        with tempfile.TemporaryDirectory() as folder:
            sys.stdout.write(
                measure_removed(
                    options.graph, options.questions, options.count, options.seed, Path(folder), options.each
                )
            )
        return
    if options.out is None or options.asked is None:
        command.error("PREDICTIONS need --out and --asked")
    answers = read_answers(options.predictions)
    write_unanswerable(
        options.graph, options.questions, answers, options.count, options.seed, options.out, options.asked
    )


if __name__ == "__main__":
    main()
