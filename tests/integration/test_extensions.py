"""Extensions of ours: what they declare exists, input is read again with others, and docs show two packages in full.

In processes of their own: tests/e2e/test_extensions.py.
"""

import re
from itertools import chain
from pathlib import Path

import pytest

from ingestion.read.sources import ReadOptions, Sources, fingerprint
from nacre.extension import Extension, extensions, resolve
from tests.support.extension_processes import OURS

ROOT = Path(__file__).parents[2]
PACKAGES = ROOT / "tests/fixtures/extensions"


def test_input_is_ingested_again_with_other_extensions_that_read_it(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = Sources((), (), ReadOptions())
    before = fingerprint(nothing, ())
    assert fingerprint(nothing, ()) == before
    for name in ("vocabularies", "spreadsheets", "documents"):
        rest = tuple(each for each in extensions() if each.name != name)
        monkeypatch.setattr("ingestion.read.sources.extensions", lambda rest=rest: rest)
        assert fingerprint(nothing, ()) != before


def test_declarations_of_ours_name_what_exists() -> None:
    assert {each.name for each in extensions()} >= set(OURS)
    for each in extensions():
        assert isinstance(each, Extension)
        kinds = each.branches, each.commands, each.models, each.tables, each.documents, each.services
        for place in (*chain(*(kind.values() for kind in kinds)), each.routes, each.serve):
            assert not place or resolve(place) is not None


def test_extending_shows_both_packages_in_full() -> None:
    text = (ROOT / "docs/extending.md").read_text(encoding="utf-8")
    shown = {block.strip() for block in re.findall(r"```(?:python|toml)\n(.*?)```", text, re.DOTALL)}
    files = [*PACKAGES.glob("*/nacre_*/*.py"), PACKAGES / "walk/pyproject.toml"]
    assert [str(file.relative_to(PACKAGES)) for file in files if file.read_text().strip() not in shown] == []
    # the other one differs in its name alone
    toml = (PACKAGES / "walk/pyproject.toml").read_text()
    assert (PACKAGES / "directory/pyproject.toml").read_text() == toml.replace("walk", "directory")
