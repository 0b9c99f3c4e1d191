"""The layers of a version: their files in its folder, in order, and whether the packs apply.

The files that a layer extends are stored before it, so that a stored layer needs no other file.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ingestion.layer.entries import Layer
from ingestion.layer.format.read_layer import layer_files, read_layer
from ingestion.layer.format.yaml_nodes import read_text
from nacre.errors import IngestionError

FOLDER, INDEX = "layers", "layers.json"


@dataclass(frozen=True)
class LayerFile:
    """A file of a layer: its name as the user sees it, and its text. In a `strict` one, an unknown name is an error."""

    name: str
    text: str
    strict: bool = False


@dataclass(frozen=True)
class LayerFiles:
    """The layers of a graph, the first one first; the packs of common vocabularies come before them."""

    files: tuple[LayerFile, ...] = ()
    packs: bool = True

    def replaced(self, others: Sequence[LayerFile]) -> "LayerFiles":
        """The same with other files: one with the name of a present one takes its place."""
        names = {each.name for each in others}
        return LayerFiles((*(f for f in self.files if f.name not in names), *others), self.packs)

    def without(self, name: str) -> "LayerFiles":
        """The same without one file; raises IngestionError if there is none of this name."""
        if name not in {each.name for each in self.files}:
            known = ", ".join(each.name for each in self.files) or "none"
            raise IngestionError(f"No layer named '{name}' is applied; applied are: {known}.")
        return LayerFiles(tuple(f for f in self.files if f.name != name), self.packs)

    def layers(self) -> list[Layer]:
        """The parsed layers."""
        return [read_layer(Path(each.name), each.text) for each in self.files]


NO_LAYERS = LayerFiles(packs=False)


def load_layer_files(paths: Sequence[Path], annotations: Path | None = None, *, packs: bool = True) -> LayerFiles:
    """The given files with those they extend, which come first. Raises IngestionError for what can't be read."""
    found: dict[str, LayerFile] = {}
    if annotations is not None:
        if not annotations.is_file():
            raise IngestionError(f"{annotations}: no such file. Check the path given to --annotations.")
        found[annotations.name] = LayerFile(annotations.name, read_text(annotations), strict=True)
    for path in paths:
        for each, text in layer_files(path):
            found.pop(each.name, None)
            found[each.name] = LayerFile(each.name, text)
    return LayerFiles(tuple(found.values()), packs)


def write_layer_files(folder: Path, layers: LayerFiles) -> None:
    """Store the layers of a version in its folder."""
    (folder / FOLDER).mkdir()
    for number, each in enumerate(layers.files):
        (folder / FOLDER / f"{number}.yaml").write_text(each.text, encoding="utf-8")
    index = {"files": [[each.name, each.strict] for each in layers.files], "packs": layers.packs}
    (folder / FOLDER / INDEX).write_text(json.dumps(index) + "\n", encoding="utf-8")


def read_layer_files(folder: Path) -> LayerFiles:
    """The layers of a version; none for one that was built before there were layers."""
    index = folder / FOLDER / INDEX
    if not index.is_file():
        return LayerFiles()
    data = json.loads(index.read_text(encoding="utf-8"))
    files = [
        LayerFile(name, (folder / FOLDER / f"{number}.yaml").read_text(encoding="utf-8"), strict)
        for number, (name, strict) in enumerate(data["files"])
    ]
    return LayerFiles(tuple(files), data["packs"])
