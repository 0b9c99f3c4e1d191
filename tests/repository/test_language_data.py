"""The files of the language data: valid for every YAML loader, without unused entries and without equal word lists."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "nacre" / "language" / "en").glob("*.yaml"))
PACKAGES = ("nacre", "agents", "graph", "tools", "ingestion")


def _entries(file: Path) -> dict[str, Any]:
    entries: dict[str, Any] = yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    return entries


@pytest.fixture(scope="module")
def quoted() -> set[str]:
    """What stands between quotes in the source."""
    files = (file for package in PACKAGES for file in sorted((ROOT / package).rglob("*.py")))
    texts = (file.read_text(encoding="utf-8") for file in files)
    return {each for text in texts for each in re.findall(r"(?<=[\"'])[^\"'\n]+(?=[\"'])", text)}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_entry_is_used(file: Path, quoted: set[str]) -> None:
    assert [name for name in _entries(file) if name not in quoted] == []


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_two_word_lists_are_equal(file: Path) -> None:
    names: dict[frozenset[str], list[str]] = {}
    for name, entry in _entries(file).items():
        if isinstance(entry, str):
            names.setdefault(frozenset(entry.split()), []).append(name)
    assert [equal for equal in names.values() if len(equal) > 1] == []
