"""The measuring of answers, from files to tables, over a small graph."""

import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, parse

from evaluation import bundled_sets as bundled_sets_module
from evaluation import forms, reword
from evaluation import unanswerable as remove
from evaluation.bundled_sets import ROOT, EvaluationSet, bundled_sets, evaluate_set
from nacre.errors import ConfigError
from nacre.extensions.evaluation.questions import read_gold_questions, read_question_lines
from nacre.extensions.evaluation.score import read_answers
from nacre.serving.cli.main import main

GRAPH = """
@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:ann rdfs:label "Ann Lee" ; :lives :town ; :age 7 ; :plays :piano ; :knows :bob .
:bob rdfs:label "Bob" ; :lives :town ; :age 7 .
:eve rdfs:label "Eve" ; :lives :city ; :teaches :piano .
:town rdfs:label "Old Town" ; :mayor :bob ; :founded 1200 .
:city rdfs:label "New City" .
:piano rdfs:label "Piano" ; :made "1200 to 1300" .
"""


@pytest.fixture
def here(monkeypatch):
    """Commands run in this process, not in one each."""

    def run(*arguments, environment):
        with monkeypatch.context() as patch, redirect_stdout(StringIO()), redirect_stderr(StringIO()) as errors:
            patch.setenv("NACRE_DATA", environment["NACRE_DATA"])
            assert main(arguments) == 0, errors.getvalue()

    monkeypatch.setattr(bundled_sets_module, "run_nacre", run)


def record(id, values, starts, text="SELECT x WHERE y IS NOT NULL", triples=()):
    query = {"i": 0, "text": text, "params": [f"http://example.org/{name}" for name in starts], "rows": 1}
    cited = [{"query": 0, "triples": [list(triple) for triple in triples]}] if starts else []
    return {"id": id, "values": values, "status": "answered", "answer": "", "queries": [query], "citations": cited}


def gone(tmp_path, gold, *answers):
    """The local names of the triples that go, and the ids of the questions left without an answer."""
    graph = tmp_path / "graph.ttl"
    graph.write_text(GRAPH, encoding="utf-8")
    facts = remove.QuadIndex(parse(path=str(graph)))
    quads, left = remove.remove_answers(facts, gold, {each["id"]: each for each in answers}, count=9, seed=1)

    def short(term):
        return term.value.rsplit("/", 1)[-1]

    return {(short(q.subject), short(q.predicate), short(q.object)) for q in quads}, {each["id"] for each in left}


def test_what_an_answer_rests_on_goes(tmp_path):
    gold = [{"id": "1", "question": "How old is Ann?", "answers": [7]}]
    assert gone(tmp_path, gold, record("1", [7], ["ann"])) == ({("ann", "age", "7"), ("bob", "age", "7")}, {"1"})


def test_links_of_both_directions_and_one_further_go(tmp_path):
    gold = [{"id": "1", "question": "Who lives in Old Town?", "answers": ["Ann Lee", "Bob"]}]
    triples, left = gone(tmp_path, gold, record("1", ["Ann Lee", "Bob"], ["town"]))
    assert left == {"1"}
    assert triples == {
        ("ann", "lives", "town"),
        ("bob", "lives", "town"),
        ("town", "mayor", "bob"),
        ("ann", "knows", "bob"),
    }


def test_what_is_cited_goes_however_far_it_is(tmp_path):
    gold = [{"id": "1", "question": "Who teaches what a friend of Ann plays?", "answers": ["New City"]}]
    base = "http://example.org/"
    cited = [(f"{base}eve", f"{base}lives", f"{base}city"), (f"{base}eve", f"{base}teaches", f"{base}piano")]
    triples, _ = gone(tmp_path, gold, record("1", ["New City"], ["bob"], triples=cited))
    assert triples == {("eve", "lives", "city")}


@pytest.mark.parametrize(
    ("gold", "values", "more"),
    [
        ({"answers": [2]}, [2], {"starts": ["town"], "text": "SELECT count(*) FROM x"}),
        ({"answers": ["Bob"]}, ["Bob"], {"starts": ["town"], "text": "SELECT x WHERE NOT (y)"}),
        ({"answers": ["Bob"]}, ["Eve"], {"starts": ["town"]}),
        ({"answers": [True]}, [True], {"starts": ["town"]}),
        ({"answers": ["Bob"]}, ["Bob"], {"starts": []}),
        ({"answers": []}, [], {"starts": ["town"]}),
    ],
)
def test_counts_negations_wrong_answers_and_truths_are_left(tmp_path, gold, values, more):
    questions = [{"id": "1", "question": "?", **gold}]
    assert gone(tmp_path, questions, record("1", values, **more)) == (set(), set())


def test_a_reduced_graph_is_written_with_its_questions(tmp_path, monkeypatch):
    (tmp_path / "graph.ttl").write_text(GRAPH, encoding="utf-8")
    asked = {"id": "1", "question": "Where does Eve live?", "answers": ["New City"], "type": "place"}
    (tmp_path / "q.jsonl").write_text(json.dumps(asked), encoding="utf-8")
    (tmp_path / "p.jsonl").write_text(json.dumps(record("1", ["New City"], ["eve"])), encoding="utf-8")
    files = [str(tmp_path / name) for name in ("graph.ttl", "q.jsonl", "p.jsonl")]
    out = ["--out", str(tmp_path / "less.nq"), "--asked", str(tmp_path / "less.jsonl")]
    monkeypatch.setattr(sys, "argv", ["remove", *files, *out])
    remove.main()
    before, after = (
        {str(quad) for quad in parse(path=str(tmp_path / name), format=form)}
        for name, form in (("graph.ttl", RdfFormat.TURTLE), ("less.nq", RdfFormat.N_QUADS))
    )
    assert after < before
    assert [quad.count("city") for quad in before - after] == [1]
    assert read_gold_questions(tmp_path / "less.jsonl") == [{**asked, "answers": [], "type": "removed"}]


def test_yaml_reads_as_lines(tmp_path):
    file = tmp_path / "q.yaml"
    file.write_text("- {ask: a, values: [1], then: [{ask: b, values: []}]}\n- {ask: c, values: [x]}\n")
    assert [
        (g["id"], g["question"], g["answers"], g["conversation"], g["turn"]) for g in read_gold_questions(file)
    ] == [
        ("1.1", "a", [1], "1", 1),
        ("1.2", "b", [], "1", 2),
        ("2.1", "c", ["x"], None, 1),
    ]


@pytest.mark.parametrize(
    ("content", "told"), [("- {values: [1]}", "question 1 has no"), ("- 3", "question 1 has no"), ("a: [", "not YAML")]
)
def test_yaml_that_holds_no_question_is_named(tmp_path, content, told):
    file = tmp_path / "q.yaml"
    file.write_text(content)
    with pytest.raises(ConfigError, match=told):
        list(read_question_lines(file))


def test_a_checkout_names_its_graphs_and_blind_ones_show_totals_alone():
    found = {each.graph: each for each in bundled_sets(ROOT)}
    assert all(each.questions.is_file() for each in found.values())
    assert found["kitchen"].questions.name == "kitchen.yaml"
    assert found["example-texts"].sources[1] == "--texts"
    assert {each.questions.parents[1].name for each in found.values() if each.blind} == {"graphs"}


def test_a_form_is_measured_over_its_wordings(tmp_path, monkeypatch, capsys, here):
    (tmp_path / "open").mkdir()
    (tmp_path / "open/town.ttl").write_text(GRAPH, encoding="utf-8")
    ages, played = "SELECT ?n { ?x :age ?n ; rdfs:label 'Bob' }", "ASK { ?x rdfs:label 'Eve' ; :teaches ?y }"
    prefixes = "PREFIX : <http://example.org/> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "
    cells = [
        {"form": "attribute", "gold": prefixes + ages, "wordings": ["What is the age of Bob?", "gibberish"]},
        {"form": "yes_no", "gold": prefixes + played, "wordings": ["Does Eve teach Piano?"]},
    ]
    (tmp_path / "open/town.yaml").write_text(json.dumps(cells), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["forms", "--failing", str(tmp_path)])
    forms.main()
    lines = capsys.readouterr().out
    assert "| attribute | 2 | 50% |" in lines
    assert "| 1 of 2 |" in lines
    assert "town 0 attribute: gibberish\n  [7]" in lines
    assert "yes_no:" not in lines


def test_from_a_graph_to_what_rewordings_cost(tmp_path, monkeypatch, capsys, here):
    fixtures = Path(__file__).parents[1] / "fixtures"
    questions = fixtures / "questions/kitchen.yaml"
    kitchen = EvaluationSet("kitchen", questions, (str(fixtures / "graphs/kitchen.ttl"), "--no-vectors"))
    assert "together" in evaluate_set(kitchen, tmp_path)
    predictions = tmp_path / "predictions/kitchen.jsonl"
    assert len(read_answers(predictions)) == len(read_gold_questions(questions))

    other = tmp_path / "other.jsonl"
    monkeypatch.setattr(sys, "argv", ["reword", str(questions), "--count", "2", "--out", str(other)])
    reword.main()
    assert len(read_gold_questions(other)) == 10
    monkeypatch.setenv("NACRE_DATA", str(tmp_path))
    evaluate_set(EvaluationSet("kitchen", other), tmp_path / "reworded")
    again = tmp_path / "reworded/predictions/kitchen.jsonl"
    monkeypatch.setattr(
        sys, "argv", ["reword", str(questions), "--answers", *map(str, (predictions, other, again)), "--failing"]
    )
    reword.main()
    assert capsys.readouterr().out.split("\n")[0].split() == ["rewording", "asked", "right"]
