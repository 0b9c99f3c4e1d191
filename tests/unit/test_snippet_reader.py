"""The reader of snippets: which blocks, commands and outputs it finds, and when an output agrees."""

from pathlib import Path

import pytest

from tests.support.snippets import ROOT, Snippet, output_differences, read_commands


def shell(text: str, output: str | None = None) -> Snippet:
    return Snippet(ROOT / "README.md", 1, "shell", text, output=output)


def test_commands_have_what_they_print_and_what_is_typed() -> None:
    first, second = read_commands(shell("$ nacre chat\n> Who?\nAda [1].\n> /quit\n$ nacre graphs \\\n    --json\n"))
    assert first == ("nacre chat", ("Who?", "/quit"), "> Who?\nAda [1].\n> /quit")
    assert second == ("nacre graphs --json", (), None)


def test_lines_without_a_prompt_are_commands_and_comments_are_none() -> None:
    found = [command.text for command in read_commands(shell("nacre graphs   # all\n\n# none\nnacre ask 'Which #1?'"))]
    assert found == ["nacre graphs", "nacre ask 'Which #1?'"]


@pytest.mark.parametrize(
    ("shown", "printed", "agrees"),
    [
        ("2 plots [1].", "2 plots [1].\n", True),
        ("2 plots [1].", "3 plots [1].\n", False),
        ("2 plots [1].", "2 plots [1].\n[1] plots\n", False),
        ("2 plots [1].\n...", "2 plots [1].\n[1] plots\n", True),
        ("...\n  plot 4\n...", "new version\n  crop     4\n  plot     4\n3 triples\n", True),
        ("...\n  plot 4\n...", "new version\n  crop     4\n  plots     4\n3 triples\n", False),
        ("...\n  plot 4", "new\n  plot     4\n", True),
        ("a long\nline", "a long line\n", True),
        ("done, 1.5 s", "done, 12.5 s\n", True),
        ("", "", True),
        ("", "more", False),
    ],
)
def test_outputs_agree_up_to_spaces_seconds_and_what_is_left_out(shown: str, printed: str, agrees: bool) -> None:
    assert (output_differences(shown, printed) == "") is agrees


def test_the_document_is_named_by_its_path() -> None:
    assert shell("x").place == "README.md:1"
    assert Path(ROOT / "README.md").is_file()
