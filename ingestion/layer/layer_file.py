"""Read semantic layers: a YAML file and those it extends -> texts -> Layer; the layers of a version, in its folder.
YAML is read within bounds, with line and column; SPARQL is checked and written with full IRIs (`prefixes.yaml`).
The files that a layer extends are stored before it, so that a stored layer needs no other file."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from stat import S_ISREG
from types import MappingProxyType

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ingestion.layer.entries import (
    DATE_ORDERS,
    ClassEntry,
    CodeEntry,
    Entry,
    Layer,
    Place,
    PropertyEntry,
    RuleEntry,
    TableEntry,
    ThingEntry,
)
from ingestion.vocabulary import LABEL, SCHEMA_ORG, TYPE, XSD
from nacre.errors import IngestionError, ToolError
from nacre.stores.sparql_source import Token, keywords, query_tokens, write_tokens

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
    """The file of this name beside it, no link or pipe; errors show nobody what other files exist."""
    file = path.parent / name
    try:
        if name == file.name and S_ISREG(file.lstat().st_mode):
            return file
    except (OSError, ValueError):
        pass
    raise IngestionError(f"{place}: 'extends' names files beside this one by their names, and {name[:80]!r} is none.")


def read_layer(path: Path, text: str) -> Layer:
    """Parse and check the text of a file alone. Raises IngestionError with file, line and column."""
    return _layer(path, _sections(path, text))


def _layer(path: Path, sections: _Values) -> Layer:
    prefixes = dict(known_prefixes())
    if "prefixes" in sections:
        prefixes |= {key: text_of(path, value) for key, value, _ in mapping_items(path, sections["prefixes"][0])}
    entries: list[Entry] = []
    for section, (value, _) in sections.items():
        if section == "rules" or section in _ENTRY_READERS:
            entries += _entries(path, section, value, prefixes)
    declared = mapping_items(path, sections["tables"][0]) if "tables" in sections else ()
    tables = tuple(_table(path, *each) for each in declared)
    languages = texts_of(path, sections["languages"][0]) if "languages" in sections else ()
    namespaces = texts_of(path, sections["namespaces"][0]) if "namespaces" in sections else ()
    words = mapping_items(path, sections["rewordings"][0]) if "rewordings" in sections else ()
    rewordings = {_short(word, place): _short(text_of(path, node), place) for word, node, place in words}
    if len(entries) + len(tables) + len(rewordings) > MAX_ENTRIES:
        raise IngestionError(f"{path}: more than {MAX_ENTRIES:,} entries.")
    return Layer(str(path), tuple(entries), MappingProxyType(prefixes), namespaces, languages, tables, rewordings)


def _short(text: str, place: Place) -> str:
    if not 0 < len(text := text.strip()) <= MAX_NAME:
        raise IngestionError(f"{place}: a word and what it stands for have 1 to {MAX_NAME} characters.")
    return text


def _sections(path: Path, text: str) -> _Values:
    node = read_yaml(path, text)
    if node is None:
        return {}
    known = ("prefixes", "namespaces", "extends", "languages", "tables", "rewordings", *_ENTRY_READERS, "rules")
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
    if field not in fields:
        return None
    node = fields[field][0]
    text = text_of(path, node).lower()
    if text not in ("true", "false"):
        raise IngestionError(f"{place_of(path, node)}: expected true or false, not '{text[:40]}'.")
    return text == "true"


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
    known = ("name", "also", "inverse", "comment", "unit", "hidden", "removed", "of", "path", "where", "kind", "dates")
    fields = _fields(path, key, node, known)
    if "path" in fields and "where" in fields:
        raise IngestionError(f"{place}: '{key}' has both 'path' and 'where'; write one of them.")
    kind, dates = _name(path, fields, "kind"), _name(path, fields, "dates")
    for name, said, allowed in (("kind", kind, ("name",)), ("dates", dates, DATE_ORDERS)):
        if said and said not in allowed:
            options = " or ".join(f"'{each}'" for each in allowed)
            raise IngestionError(f"{fields[name][1]}: '{name}' can only be {options}, not '{said[:40]}'.")
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
        dates=DATE_ORDERS.get(dates, ""),
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


def _table(path: Path, key: str, node: Node, place: Place) -> TableEntry:
    fields = _fields(path, key, node, ("names", "key", "links", "hidden"))
    links = mapping_items(path, fields["links"][0]) if "links" in fields else ()
    return TableEntry(
        key,
        place,
        _names(path, fields, "names"),
        _names(path, fields, "key"),
        {tuple(map(str.strip, columns.split(","))): text_of(path, target) for columns, target, _ in links},
        bool(_flag(path, fields, "hidden")),
    )


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


def expand_name(name: str, prefixes: Mapping[str, str]) -> str:
    """The IRI of `<iri>`, a full IRI or a CURIE with a known prefix; "" for other texts.

    >>> expand_name("ex:a", {"ex": "http://e/"}), expand_name("<urn:x>", {}), expand_name("year cast", {})
    ('http://e/a', 'urn:x', '')
    """
    if name.startswith("<") and name.endswith(">"):
        return name[1:-1]
    prefix, mark, local = name.partition(":")
    if not mark or " " in name:
        return ""
    if local.startswith("//") or prefix == "urn":
        return name
    return prefixes[prefix] + local.replace("\\", "") if prefix in prefixes else ""


# steps of a path (given: longer ones are mistakes, and each step is a join)
MAX_STEPS = 20

# what a pattern may not do: read elsewhere, or compute what no pattern describes
_REFUSED = frozenset({"SERVICE", "GRAPH", "FROM", "LOAD", "INSERT", "DELETE", "DROP", "CLEAR", "CREATE", "ADD", "MOVE"})

_NOT_IN_PATTERNS = _REFUSED | {"SELECT", "CONSTRUCT", "DESCRIBE", "ASK", "GROUP", "ORDER", "LIMIT", "HAVING"}


def full_pattern(text: str, prefixes: Mapping[str, str], place: Place) -> str:
    """A pattern or query with full IRIs. Raises IngestionError for what is no SPARQL, and for unknown prefixes."""
    try:
        tokens = query_tokens(text)
    except ToolError as error:
        raise IngestionError(f"{place}: {error}") from None
    return write_tokens([_full(token, prefixes, place) for token in tokens])


def _full(token: Token, prefixes: Mapping[str, str], place: Place) -> Token:
    if token.kind == "word" and token.text == "a":
        return token._replace(kind="iri", text=f"<{TYPE}>")
    if token.kind != "pname":
        return token
    iri = expand_name(token.text, prefixes)
    if not iri:
        raise IngestionError(f"{place}: unknown prefix in '{token.text}'. Add it under 'prefixes'.")
    return token._replace(kind="iri", text=f"<{iri}>")


def full_path(text: str, prefixes: Mapping[str, str], place: Place) -> str:
    """A property path with full IRIs. Raises IngestionError for what is no path."""
    written = full_pattern(text, prefixes, place)
    steps = 0
    for token in query_tokens(written):
        if token.kind == "iri":
            steps += 1
        elif token.kind != "mark" or token.text not in "^/|()?*+":
            raise IngestionError(
                f"{place}: '{token.text}' can't be in a path; a path has properties and ^ / | ( ) ? + *."
            )
    if not 0 < steps <= MAX_STEPS:
        raise IngestionError(f"{place}: a path has 1 to {MAX_STEPS} properties, this one has {steps}.")
    return written


def check_pattern(text: str, variables: Sequence[str], place: Place) -> str:
    """A group pattern without its braces; raises IngestionError if it may not be used or lacks a variable."""
    tokens = query_tokens(text)
    if refused := keywords(tokens) & _NOT_IN_PATTERNS:
        raise IngestionError(f"{place}: {min(refused)} can't be in 'where'. Write a rule, or a plain pattern.")
    names = {token.text[1:] for token in tokens if token.kind == "variable"}
    for name in variables:
        if name not in names:
            raise IngestionError(f"{place}: 'where' lacks the variable ?{name}.")
    _check_engine(f"SELECT * WHERE {{ {text} }}", place)
    return text


def _check_engine(query: str, place: Place) -> None:
    # it takes 30 ms to import, and most layers have paths only
    import pyoxigraph

    try:
        pyoxigraph.Store().query(query)
    except (SyntaxError, ValueError) as error:
        raise IngestionError(f"{place}: {' '.join(str(error).split())[:300]}") from None


_ENTRY_READERS: Mapping[str, _Reader] = MappingProxyType(
    {"classes": _class, "properties": _property, "things": _thing, "codes": _codes}
)

FOLDER, INDEX = "layers", "layers.json"


@dataclass(frozen=True)
class LayerFile:
    """A file of a layer: its name as the user sees it, and its text. In a `strict` one, an unknown name is an error."""

    name: str
    text: str
    strict: bool = False


@dataclass(frozen=True)
class LayerFiles:
    """The layers of a graph, in order, after the `packs`. `spellings`: two spellings of an IRI are read as one."""

    files: tuple[LayerFile, ...] = ()
    packs: bool = True
    spellings: bool = True

    def replaced(self, others: Sequence[LayerFile]) -> "LayerFiles":
        """The same with other files: one with the name of a present one takes its place."""
        names = {each.name for each in others}
        return replace(self, files=(*(f for f in self.files if f.name not in names), *others))

    def without(self, name: str) -> "LayerFiles":
        """The same without one file; raises IngestionError if there is none of this name."""
        if name not in {each.name for each in self.files}:
            known = ", ".join(each.name for each in self.files) or "none"
            raise IngestionError(f"No layer named '{name}' is applied; applied are: {known}.")
        return replace(self, files=tuple(f for f in self.files if f.name != name))

    def layers(self) -> list[Layer]:
        """The parsed layers."""
        return [read_layer(Path(each.name), each.text) for each in self.files]


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


@cache
def known_prefixes() -> Mapping[str, str]:
    """The prefixes that every layer has."""
    text = Path(__file__).with_name("prefixes.yaml").read_text(encoding="utf-8")
    return MappingProxyType({str(key): str(value) for key, value in yaml.safe_load(text).items()})


def check_rule(text: str, place: Place) -> str:
    """A CONSTRUCT query; raises IngestionError for another one, or one that reads elsewhere."""
    words = keywords(query_tokens(text))
    if "CONSTRUCT" not in words or words & _REFUSED:
        raise IngestionError(f"{place}: a rule is one CONSTRUCT query over the graph alone.")
    _check_engine(text, place)
    return text


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
    index = asdict(layers) | {"files": [[each.name, each.strict] for each in layers.files]}
    (folder / FOLDER / INDEX).write_text(json.dumps(index) + "\n", encoding="utf-8")


def read_layer_files(folder: Path) -> LayerFiles:
    """The layers of a version; none for one that was built before there were layers."""
    if not (index := folder / FOLDER / INDEX).is_file():
        return LayerFiles()
    data = json.loads(index.read_text(encoding="utf-8"))
    files = [
        LayerFile(name, (folder / FOLDER / f"{number}.yaml").read_text(encoding="utf-8"), strict)
        for number, (name, strict) in enumerate(data["files"])
    ]
    return LayerFiles(tuple(files), data["packs"], data.get("spellings", True))


# a layer of sixty statements has about 12,000 characters (given)
MAX_BYTES = 1_000_000


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


def iri_variants(iri: str) -> tuple[str, ...]:
    """The IRI, and the same with the other scheme of its namespace, if both are in use: a layer means both."""
    for one, other in (SCHEMA_ORG, SCHEMA_ORG[::-1]):
        if iri.startswith(one):
            return iri, other + iri[len(one) :]
    return (iri,)


_TERMS = frozenset({"variable", "iri", "blank", "string", "number"})


def may_read_any_predicate(texts: Iterable[str]) -> bool:
    """Whether a predicate of a pattern or query may be a variable; some are taken for one that are not."""
    every = map(query_tokens, texts)
    return any(_may_be_predicate(tokens, i) for tokens in every for i in range(1, len(tokens) - 1))


def iris_of(text: str) -> frozenset[str]:
    """All IRIs in a pattern or query."""
    return frozenset(token.text[1:-1] for token in query_tokens(text) if token.kind == "iri")


def mentioned_iris(text: str) -> frozenset[str]:
    """The IRIs in a pattern or query that a graph has only if it uses their vocabulary: no datatypes, types, labels."""
    return frozenset(iri for iri in iris_of(text) if iri not in (TYPE, LABEL) and not iri.startswith(XSD))


def _may_be_predicate(tokens: Sequence[Token], i: int) -> bool:
    before, token, after = tokens[i - 1 : i + 2]
    if token.kind != "variable" or not (after.kind in _TERMS or after.text in "[("):
        return False
    return before.kind in _TERMS or before.text in "];"
