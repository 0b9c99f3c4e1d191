"""`nacre calibrate` over a server on this machine: what it counts, keeps and tells, and what follows from it."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agents.model_priors import CALIBRATION_FILE, calibrated_counts, model_priors, query_model_size, query_priors
from nacre.config.settings import Settings
from nacre.serving.cli.main import main
from tests.support.model_servers import Reply, openai_server
from tests.support.scripted_model import step

NAMES = "SELECT e.label FROM dish d JOIN entity e ON e.id = d.id"
# what is asked, what is right, and what the model does
CASES: list[tuple[str, list[Any] | None, list[dict[str, Any]]]] = [
    # what the rules find as well
    ("How many dishes are there?", [3], [step("SELECT count(*) FROM dish", wants="number")]),
    # what no reading has, right and wrong
    ("Which of them simmers on and on?", ["dal"], [step(f"{NAMES} WHERE e.label = 'dal'")]),
    ("Which of those hums at night?", ["pilaf"], [step(f"{NAMES} WHERE e.label = 'dal'")]),
    # nothing, twice the same
    ("Which of these sings?", [], [step(f"{NAMES} WHERE e.label = 'x'")] * 2),
    # no query at all
    ("Who pays for it all?", ["nobody"], [step(missing="money")]),
    # prose is not counted
    ("Tell me of it.", None, []),
]


@pytest.fixture
def nacre(kitchen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> Callable[..., Any]:
    """Runs a command over a copy of the small graph: its exit code, stdout and stderr."""
    shutil.copytree(kitchen, tmp_path / "data")
    monkeypatch.setenv("NACRE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("NACRE_EMBEDDER", "none")
    monkeypatch.setenv("NACRE_FORBID_MODELS", "false")
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        stdout, stderr = capfd.readouterr()
        return code, stdout, stderr

    return run


def written(folder: Path, cases: list[Any]) -> Path:
    file = folder / "questions.jsonl"
    lines = [{"id": n, "question": ask, **({} if gold is None else {"answers": gold})} for n, (ask, gold, _) in
             enumerate(cases)]  # fmt: skip
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def test_what_it_counts_is_kept_and_used(
    nacre: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = [Reply(json.dumps(said)) for _, _, all_said in CASES for said in all_said]
    with openai_server(*replies) as server:
        monkeypatch.setenv("NACRE_OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("NACRE_MODEL", "openai:any-70b")
        code, stdout, stderr = nacre("calibrate", written(tmp_path, CASES))
        assert (code, len(server.asked)) == (0, len(replies)), stderr
    data = tmp_path / "data"
    assert calibrated_counts(data, "openai:any-70b") == {"agreed": (1, 1), "alone": (1, 2), "empty": (1, 1)}
    assert "openai:any-70b answers 3 of 5. The rules lead." in stdout
    assert "1 of 5 questions got no query" in stdout
    assert len(stdout.splitlines()) < 24
    assert [line.split()[0] for line in stderr.splitlines()] == ["1/5", "2/5", "3/5", "4/5", "5/5"]
    own = query_priors(Settings(data=data, model="openai:any-70b", _env_file=None))
    assert own.before == pytest.approx(4 / 6)
    assert own.after("agreed") != model_priors("large").after("agreed")
    assert f"at least {own.before:.0%} of the time" in stdout


def test_a_second_time_replaces_the_first(
    nacre: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data" / CALIBRATION_FILE).write_text(
        '{"openai:any-70b": {"alone": [0, 99]}, "openai:other": {"alone": [1, 2]}}'
    )
    with openai_server(Reply(json.dumps(CASES[0][2][0]))) as server:
        monkeypatch.setenv("NACRE_OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("NACRE_MODEL", "openai:any-70b")
        code, _, stderr = nacre("calibrate", written(tmp_path, CASES), "--limit", 1, "--graph", "kitchen")
    assert code == 0, stderr
    assert calibrated_counts(tmp_path / "data", "openai:any-70b") == {"agreed": (1, 1)}
    assert calibrated_counts(tmp_path / "data", "openai:other") == {"alone": (1, 2)}


def test_a_model_that_is_down_spoils_nothing(
    nacre: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with openai_server() as server:
        pass
    monkeypatch.setenv("NACRE_OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("NACRE_MODEL", "openai:any-70b")
    monkeypatch.setenv("NACRE_BUSY_RETRIES", "0")
    code, _, stderr = nacre("calibrate", written(tmp_path, CASES[:1]))
    assert code == 2
    assert "wrote no query for any of 1 questions. Run: nacre doctor" in stderr
    assert not (tmp_path / "data" / CALIBRATION_FILE).exists()


@pytest.mark.parametrize(
    ("model", "arguments", "said"),
    [
        ("", [], "No model is set. Set NACRE_MODEL"),
        ("openai:m", ["--graph", "kitchn"], "Did you mean 'kitchen'"),
    ],
)
def test_bad_input_is_one_clear_line(
    nacre: Callable[..., Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    arguments: list[str],
    said: str,
) -> None:
    monkeypatch.setenv("NACRE_MODEL", model)
    monkeypatch.setenv("NACRE_OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    code, _, stderr = nacre("calibrate", written(tmp_path, CASES), *arguments)
    assert (code, len(stderr.splitlines())) == (2, 1)
    assert said in stderr


def test_questions_without_answers_can_not_be_counted(
    nacre: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NACRE_MODEL", "openai:m")
    code, _, stderr = nacre("calibrate", written(tmp_path, CASES[-1:]))
    assert (code, "no question with 'answers'" in stderr) == (2, True)


def test_without_a_file_questions_are_made_of_the_graph(
    nacre: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with openai_server(*[Reply(json.dumps(CASES[0][2][0]))] * 30) as server:
        monkeypatch.setenv("NACRE_OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("NACRE_MODEL", "openai:any-name")
        code, stdout, stderr = nacre("model", "check", "--graph", "kitchen")
        server.replies.append(Reply("yes"))
        _, findings, _ = nacre("doctor")
    assert code == 0, stderr
    right, asked = map(int, re.findall(r"answers (\d+) of (\d+)\. The rules lead\.", stdout)[0])
    assert right < asked
    assert asked >= 3
    assert f"; it answers {right} of {asked}; the rules lead" in findings
    counts = calibrated_counts(tmp_path / "data", "openai:any-name")
    # the same query for each question is mostly wrong, so the model still counts as small
    assert counts is not None
    assert sum(n for _, n in counts.values()) <= asked
    assert query_model_size(Settings(data=tmp_path / "data", model="openai:any-name", _env_file=None)) == "small"
