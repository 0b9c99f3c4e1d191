"""The measuring of answers, from files to tables, over a small graph."""

import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from evaluation import bundled_sets as bundled_sets_module
from evaluation import forms
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


def test_the_questions_of_a_graph_are_asked_and_counted(tmp_path, here):
    fixtures = Path(__file__).parents[1] / "fixtures"
    questions = fixtures / "questions/kitchen.yaml"
    kitchen = EvaluationSet("kitchen", questions, (str(fixtures / "graphs/kitchen.ttl"), "--no-vectors"))
    assert "together" in evaluate_set(kitchen, tmp_path)
    predictions = tmp_path / "predictions/kitchen.jsonl"
    assert len(read_answers(predictions)) == len(read_gold_questions(questions))
