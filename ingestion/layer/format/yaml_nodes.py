"""Read YAML within bounds: text -> nodes, each with its line and column."""

from collections.abc import Iterator
from pathlib import Path

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ingestion.layer.entries import Place
from nacre.errors import IngestionError

# a layer of sixty statements has about 12,000 characters (given)
MAX_BYTES = 1_000_000
MAX_DEPTH = 10


class _Loader(yaml.SafeLoader):
    """Refuses aliases, which can multiply, and deep nesting."""

    depth = 0

    def compose_node(self, parent: Node | None, index: int) -> Node | None:
        if self.check_event(yaml.AliasEvent):
            raise self._error("aliases (*name) are not allowed")
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._error("nested too deeply")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def _error(self, problem: str) -> yaml.MarkedYAMLError:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        return yaml.MarkedYAMLError(problem=problem, problem_mark=event.start_mark)


def read_text(path: Path) -> str:
    """The text of a file; raises IngestionError for one that is too large or can't be read."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise IngestionError(f"{path}: larger than {MAX_BYTES // 1_000_000} MB.")
        return content.decode("utf-8-sig")
    except OSError as error:
        raise IngestionError(f"{path}: can't be read ({error.strerror or error}).") from None
    except UnicodeDecodeError as error:
        raise IngestionError(f"{path}: not UTF-8: {error.reason} at byte {error.start}.") from None


def read_yaml(path: Path, text: str) -> MappingNode | None:
    """The mapping of a file's text; None for an empty one. Raises IngestionError with line and column."""
    try:
        node = _compose(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        raise IngestionError(f"{path}{where}: not YAML: {error.problem}.") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise IngestionError(f"{path}: not YAML: {' '.join(str(error).split())[:300]}") from None
    if node is None or (isinstance(node, ScalarNode) and not node.value):
        return None
    if not isinstance(node, MappingNode):
        raise IngestionError(f"{path}: expected a mapping such as 'classes:'.")
    return node


def _compose(text: str) -> Node | None:
    loader = _Loader(text)
    try:
        node: Node | None = loader.get_single_node()
        return node
    finally:
        loader.dispose()


def place_of(path: Path | str, node: Node) -> Place:
    """The place of a node."""
    return Place(str(path), node.start_mark.line + 1, node.start_mark.column + 1)


def mapping_items(path: Path | str, node: Node) -> Iterator[tuple[str, Node, Place]]:
    """The items of a mapping: key, value, place of the key. Raises IngestionError for another node, a key that is no
    text and a key that is there twice."""
    if isinstance(node, ScalarNode) and not node.value:
        return
    if not isinstance(node, MappingNode):
        raise IngestionError(f"{place_of(path, node)}: expected 'name: ...' entries.")
    seen: set[str] = set()
    for key, value in node.value:
        place = place_of(path, key)
        if not isinstance(key, ScalarNode):
            raise IngestionError(f"{place}: a key must be text.")
        if key.value in seen:
            raise IngestionError(f"{place}: '{key.value}' is there twice.")
        seen.add(key.value)
        yield key.value, value, place


def text_of(path: Path | str, node: Node) -> str:
    """The text of a scalar, as written: `on` and `2020` are texts."""
    if not isinstance(node, ScalarNode):
        raise IngestionError(f"{place_of(path, node)}: expected a text.")
    return str(node.value).strip()


def texts_of(path: Path | str, node: Node) -> tuple[str, ...]:
    """A text or a list of texts; empty ones are left out."""
    nodes = node.value if isinstance(node, SequenceNode) else [node]
    return tuple(dict.fromkeys(text for each in nodes if (text := text_of(path, each))))


def flag_of(path: Path | str, node: Node) -> bool:
    """true or false."""
    text = text_of(path, node).lower()
    if text not in ("true", "false"):
        raise IngestionError(f"{place_of(path, node)}: expected true or false, not '{text[:40]}'.")
    return text == "true"
