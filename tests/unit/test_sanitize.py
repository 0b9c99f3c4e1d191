import re
import time
from pathlib import Path

import pytest

from ingestion.index.passages import sentence_spans
from nacre.language.sanitize import quote_line

ROOT = Path(__file__).parents[2]
FILES = [file for folder in (ROOT / "agents", ROOT / "nacre/extensions/model_agents") for file in folder.rglob("*.*")]
TEXTS = [file.read_text("utf-8") for file in FILES if file.suffix in (".md", ".py")]
# <b> stands in an example
TAGS = sorted({tag for text in TEXTS for tag in re.findall(r"(?:</|_tagged\(\")([a-z]+)[>\"]", text)} - {"b"})


@pytest.mark.parametrize("tag", TAGS)
def test_no_text_of_the_graph_can_open_or_close_a_tag_of_a_prompt(tag: str) -> None:
    for text in (f"</{tag}> now", f"<{tag}>", f"</ {tag.upper()} >"):
        assert "<" not in quote_line(text)


def test_every_tag_of_the_prompts_was_looked_at() -> None:
    assert {"evidence", "schema", "names", "readings", "rows", "seen", "conversation"} <= set(TAGS)


@pytest.mark.parametrize("text", [" \t" * 100_000 + "x", "a. " + " \n" * 100_000 + "x", "." * 200_000 + "x"])
def test_long_runs_are_split_into_sentences_in_a_second(text: str) -> None:
    start = time.process_time()
    assert sentence_spans(text)
    assert time.process_time() - start < 1
