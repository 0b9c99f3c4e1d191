"""Read a semantic layer: a YAML file and those it extends -> texts -> Layer."""

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from stat import S_ISREG
from types import MappingProxyType

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ingestion.layer.entries import (
    ClassEntry,
    CodeEntry,
    Entry,
    Layer,
    Place,
    PropertyEntry,
    RuleEntry,
    ThingEntry,
)
from ingestion.layer.format.expressions import check_pattern, check_rule, full_path, full_pattern
from ingestion.layer.format.prefixes import known_prefixes
from ingestion.layer.format.yaml_nodes import flag_of, mapping_items, place_of, read_text, read_yaml, text_of, texts_of
from nacre.errors import IngestionError

# characters of a name or a comment; each question reads all names (given)
MAX_NAME, MAX_COMMENT = 300, 2000
MAX_ENTRIES = 5000
# layers that one may extend, directly or not
MAX_EXTENDED = 20

_Values = Mapping[str, tuple[Node, Place]]
_Reader = Callable[[Path, str, Node, Place, Mapping[str, str]], Entry]

# old names of annotation files
_SECTION_ALIASES = {"predicates": "properties"}
_KEY_ALIASES = {"rename": "name", "exclude": "removed", "drop": "removed"}


def layer_files(path: Path) -> list[tuple[Path, str]]:
    """A file and those it extends, which come first, each once: path and text. Raises IngestionError for a cycle, and
    for a name that is not that of a file beside it."""
    return [(each, text) for each, text, _ in _extended(path, (), set())]


def read_layers(path: Path) -> list[Layer]:
    """As `layer_files`, parsed and checked."""
    return [_layer(each, sections) for each, _, sections in _extended(path, (), set())]


def _extended(path: Path, above: tuple[Path, ...], seen: set[Path]) -> Iterator[tuple[Path, str, _Values]]:
    if path in above:
        raise IngestionError(f"{path}: extends itself, by way of {' -> '.join(each.name for each in above)}.")
    if len(above) > MAX_EXTENDED:
        raise IngestionError(f"{path}: more than {MAX_EXTENDED} layers extend one another.")
    if path in seen:
        return
    seen.add(path)
    text = read_text(path)
    sections = _sections(path, text)
    if "extends" in sections:
        node, place = sections["extends"]
        for name in texts_of(path, node):
            yield from _extended(_file_beside(path, name, place), (*above, path), seen)
    yield path, text, sections


def _file_beside(path: Path, name: str, place: Place) -> Path:
    """The file of this name in the same folder. Others may have written the layer: the error is the same whether
    anything else is at this path or not, and links and pipes are not followed."""
    file = path.parent / name
    try:
        if name == file.name and S_ISREG(file.lstat().st_mode):
            return file
    except (OSError, ValueError):
        pass
    raise IngestionError(f"{place}: 'extends' names files beside this one by their names, and {name[:80]!r} is none.")


def read_layer(path: Path, text: str) -> Layer:
    """Parse and check the text of a file, without those it extends. Raises IngestionError with file, line and
    column."""
    return _layer(path, _sections(path, text))


def _layer(path: Path, sections: _Values) -> Layer:
    prefixes = {**known_prefixes(), **_prefixes(path, sections)}
    entries: list[Entry] = []
    for section, (value, _) in sections.items():
        if section in _ENTRY_READERS:
            entries += _entries(path, section, value, prefixes)
    if len(entries) > MAX_ENTRIES:
        raise IngestionError(f"{path}: {len(entries):,} entries; at most {MAX_ENTRIES:,} are allowed.")
    languages = texts_of(path, sections["languages"][0]) if "languages" in sections else ()
    namespaces = texts_of(path, sections["namespaces"][0]) if "namespaces" in sections else ()
    return Layer(str(path), tuple(entries), MappingProxyType(prefixes), namespaces, languages)


def _sections(path: Path, text: str) -> _Values:
    node = read_yaml(path, text)
    if node is None:
        return {}
    known = ("prefixes", "namespaces", "extends", "languages", *_ENTRY_READERS)
    found = {}
    for key, value, place in mapping_items(path, node):
        section = _SECTION_ALIASES.get(key, key)
        if section not in known:
            raise IngestionError(f"{place}: unknown key '{key}'{_suggestion(key, known)}")
        found[section] = (value, place)
    return found


def _suggestion(word: str, known: tuple[str, ...]) -> str:
    close = get_close_matches(word, known, 1)
    return f"; did you mean '{close[0]}'?" if close else f"; known are {', '.join(known)}."


def _prefixes(path: Path, sections: _Values) -> dict[str, str]:
    if "prefixes" not in sections:
        return {}
    return {key: text_of(path, value) for key, value, _ in mapping_items(path, sections["prefixes"][0])}


def _entries(path: Path, section: str, node: Node, prefixes: Mapping[str, str]) -> Iterator[Entry]:
    if section == "rules":
        yield from _rules(path, node, prefixes)
        return
    for key, value, place in mapping_items(path, node):
        if not key.strip() or len(key) > MAX_NAME * 2:
            raise IngestionError(f"{place}: a key has 1 to {MAX_NAME * 2} characters.")
        yield _ENTRY_READERS[section](path, key.strip(), value, place, prefixes)


def _rules(path: Path, node: Node, prefixes: Mapping[str, str]) -> Iterator[RuleEntry]:
    if isinstance(node, ScalarNode) and not node.value:
        return
    if not isinstance(node, SequenceNode):
        raise IngestionError(f"{place_of(path, node)}: 'rules' is a list of CONSTRUCT queries.")
    for each in node.value:
        place = place_of(path, each)
        yield RuleEntry(place, check_rule(full_pattern(text_of(path, each), prefixes, place), place))


def _fields(path: Path, key: str, node: Node, known: tuple[str, ...]) -> _Values:
    found = {}
    for field, value, place in mapping_items(path, node):
        name = _KEY_ALIASES.get(field, field)
        if name not in known:
            raise IngestionError(f"{place}: '{key}' has '{field}'{_suggestion(field, known)}")
        found[name] = (value, place)
    return found


def _name(path: Path, fields: _Values, field: str = "name", most: int = MAX_NAME) -> str:
    if field not in fields:
        return ""
    node, place = fields[field]
    text = " ".join(text_of(path, node).split())
    if len(text) > most:
        raise IngestionError(f"{place}: '{field}' has {len(text)} characters; at most {most} are allowed.")
    return text


def _names(path: Path, fields: _Values, field: str = "also") -> tuple[str, ...]:
    if field not in fields:
        return ()
    node, place = fields[field]
    texts = tuple(dict.fromkeys(" ".join(text.split()) for text in texts_of(path, node)))
    if any(len(text) > MAX_NAME for text in texts):
        raise IngestionError(f"{place}: a name of '{field}' has more than {MAX_NAME} characters.")
    return texts


def _flag(path: Path, fields: _Values, field: str) -> bool | None:
    return flag_of(path, fields[field][0]) if field in fields else None


def _pattern(path: Path, fields: _Values, prefixes: Mapping[str, str], variables: tuple[str, ...]) -> str:
    if "where" not in fields:
        return ""
    node, place = fields["where"]
    return check_pattern(full_pattern(text_of(path, node), prefixes, place), variables, place)


def _class(path: Path, key: str, node: Node, place: Place, prefixes: Mapping[str, str]) -> ClassEntry:
    fields = _fields(path, key, node, ("name", "also", "comment", "hidden", "removed", "where"))
    return ClassEntry(
        key,
        place,
        name=_name(path, fields),
        also=_names(path, fields),
        comment=_name(path, fields, "comment", MAX_COMMENT),
        hidden=_flag(path, fields, "hidden"),
        removed=bool(_flag(path, fields, "removed")),
        where=_pattern(path, fields, prefixes, ("this",)),
    )


def _property(path: Path, key: str, node: Node, place: Place, prefixes: Mapping[str, str]) -> PropertyEntry:
    known = ("name", "also", "inverse", "comment", "unit", "hidden", "removed", "of", "path", "where", "kind")
    fields = _fields(path, key, node, known)
    if "path" in fields and "where" in fields:
        raise IngestionError(f"{place}: '{key}' has both 'path' and 'where'; write one of them.")
    kind = _name(path, fields, "kind")
    if kind not in ("", "name"):
        raise IngestionError(f"{fields['kind'][1]}: 'kind' can only be 'name', not '{kind[:40]}'.")
    steps = full_path(text_of(path, fields["path"][0]), prefixes, fields["path"][1]) if "path" in fields else ""
    return PropertyEntry(
        key,
        place,
        name=_name(path, fields),
        also=_names(path, fields),
        inverse=_names(path, fields, "inverse"),
        comment=_name(path, fields, "comment", MAX_COMMENT),
        unit=_name(path, fields, "unit"),
        hidden=_flag(path, fields, "hidden"),
        removed=bool(_flag(path, fields, "removed")),
        of=_names(path, fields, "of"),
        path=steps,
        where=_pattern(path, fields, prefixes, ("this", "value")),
        kind="name" if kind else "",
    )


def _thing(path: Path, key: str, node: Node, place: Place, prefixes: Mapping[str, str]) -> ThingEntry:
    if not isinstance(node, MappingNode):
        names = texts_of(path, node)
        if any(len(name) > MAX_NAME for name in names):
            raise IngestionError(f"{place}: a name of '{key}' has more than {MAX_NAME} characters.")
        return ThingEntry(key, place, names[0] if names else "", names[1:])
    fields = _fields(path, key, node, ("name", "also"))
    return ThingEntry(key, place, _name(path, fields), _names(path, fields))


def _codes(path: Path, key: str, node: Node, place: Place, prefixes: Mapping[str, str]) -> CodeEntry:
    meanings = {code: text_of(path, value) for code, value, _ in mapping_items(path, node)}
    return CodeEntry(key, place, MappingProxyType(meanings))


def _no_entry(path: Path, key: str, node: Node, place: Place, prefixes: Mapping[str, str]) -> Entry:
    raise AssertionError("rules are a list")


_ENTRY_READERS: Mapping[str, _Reader] = MappingProxyType(
    {"classes": _class, "properties": _property, "things": _thing, "codes": _codes, "rules": _no_entry}
)
