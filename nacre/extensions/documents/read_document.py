"""Read documents: files, folders and globs -> document files -> their texts in blocks, or why they can't be read.

Documents are found with the name they are cited by, and read in order, a few ahead. Texts of a loader are read from
one file each. Then LangChain's loaders: class and arguments -> document files, each with the source it is cited by."""

import glob
import importlib
import json
import logging
import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing, contextmanager
from functools import cache
from inspect import Parameter, isabstract, signature
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, get_type_hints

from langchain_core.document_loaders import BaseLoader
from pydantic import TypeAdapter, ValidationError

from ingestion.documents import (
    MAX_CHARACTERS,
    DocumentFile,
    DocumentReader,
    DocumentText,
    UnreadableDocument,
    read_plain,
)
from ingestion.read.sources import names_within, path_before_pattern
from nacre.errors import IngestionError
from nacre.extension import provided
from nacre.extensions.documents.plain_texts import BLOCK_SEPARATOR, read_markdown
from nacre.language.sanitize import strip_control_characters
from nacre.stores.killable_pool import KillablePool

log = logging.getLogger(__name__)


def find_documents(places: Sequence[str], loaded: Sequence[DocumentFile] = ()) -> list[DocumentFile]:
    """The documents in files, folders (searched recursively) and globs, and those that a loader returned, by name.

    A document is named by its path relative to the parent of the given folder. Raises IngestionError for missing
    places, for folders without documents, and for explicitly named files of another format. In folders, documents of
    formats that can't be read are returned too, so that they are reported; other files are ignored.
    """
    # with the path that it is named by, and the root of that
    found: dict[Path, tuple[str, str]] = {}
    for place in places:
        for path in _expand(place):
            pattern = glob.has_magic(place) and not Path(place).exists()
            if pattern and _leads_out(path, path_before_pattern(place).resolve()):
                continue
            if path.is_dir():
                found |= _documents_in(path, place)
            elif path.suffix.lower() in readable_formats():
                found.setdefault(_readable_path(path), (os.path.abspath(path), os.path.abspath(path.parent)))
            elif not glob.has_magic(place):
                raise IngestionError(
                    f"{path}: can't read {path.suffix or 'a file without extension'} as a document, only"
                    f" {', '.join(sorted(readable_formats()))}."
                    f" Convert it first, for example: pandoc {path.name} -o {path.stem}.md"
                )
    names = names_within(dict(found.values()))
    documents = [DocumentFile(path, names[written]) for path, (written, _) in found.items()]
    taken = {document.name for document in documents}
    renamed = [each._replace(name=f"{each.name} (loaded)") if each.name in taken else each for each in loaded]
    return sorted([*documents, *renamed], key=lambda document: document.name)


def _documents_in(folder: Path, place: str) -> dict[Path, tuple[str, str]]:
    """The documents in a folder, by path, with the paths that they are named by."""
    inside = folder.resolve()
    files = [p for p in sorted(folder.rglob("*")) if p.is_file() and not _is_hidden(p.relative_to(folder))]
    documents = [p for p in files if _is_document(p) and not _leads_out(p, inside)]
    if not any(p.suffix.lower() in readable_formats() for p in documents):
        raise IngestionError(f"{place}: no document in this folder ({', '.join(sorted(readable_formats()))}).")
    return {_readable_path(p): (str(inside / p.relative_to(folder)), str(inside.parent)) for p in documents}


def _readable_path(path: Path) -> Path:
    """The file that a path leads to, or the path itself if only its own name says the format."""
    target = path.resolve()
    return target if _is_document(target) else path.absolute()


def _expand(place: str) -> list[Path]:
    if Path(place).exists():
        return [Path(place)]
    if glob.has_magic(place):
        if matches := sorted(glob.glob(place, recursive=True)):
            return [Path(match) for match in matches]
        raise IngestionError(f"{place}: no file matches. Check the pattern given to --texts.")
    raise IngestionError(f"{place}: no such file or folder. Check the path given to --texts.")


def _leads_out(path: Path, folder: Path) -> bool:
    """Whether a path leads by a link out of its folder, or to a hidden file in it: such a file was not given."""
    target = path.resolve()
    if target.is_relative_to(folder) and (not _is_hidden(target.relative_to(folder)) or not path.is_symlink()):
        return False
    log.warning("%s is a link out of the folder and is not read", path)
    return True


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _is_document(path: Path) -> bool:
    if path.suffix.lower() in readable_formats() or path.suffix.lower() in UNREADABLE_FORMATS:
        return True
    log.info("%s is not a document and is ignored", path)
    return False


SECONDS = 120.0

MAX_MEMORY = 2_000_000_000

# how many files are read ahead
AHEAD = 4


class LoadedDocument(NamedTuple):
    """A document that was read: its text, or None and `why` it can't be read."""

    document: DocumentFile
    text: DocumentText | None
    why: str = ""


def load_documents(
    documents: Sequence[DocumentFile], *, strict: bool = False, seconds: float = SECONDS
) -> Iterator[LoadedDocument]:
    """The documents in order, read ahead within limits of time and memory (2 GB) each. If `strict`, raises
    IngestionError for the first document that can't be read."""
    with closing(KillablePool(MAX_MEMORY)) as pool:
        waiting: deque[tuple[DocumentFile, Callable[[], DocumentText]]] = deque()
        left = iter(documents)
        for document in left:
            waiting.append((document, _start_reading(document, pool, seconds)))
            if len(waiting) >= AHEAD:
                yield _loaded(*waiting.popleft(), strict, seconds)
        while waiting:
            yield _loaded(*waiting.popleft(), strict, seconds)


def _start_reading(document: DocumentFile, pool: KillablePool, seconds: float) -> Callable[[], DocumentText]:
    """A function that returns the text. Reading in a separate process starts now."""
    suffix = document.path.suffix.lower()
    size = document.path.stat().st_size if document.path.is_file() else MAX_BYTES + 1
    reader = document_readers().get(suffix)
    if reader is not None and (reader.takes_bytes or size > LARGE) and size <= MAX_BYTES:
        running: Future[DocumentText] = pool.start(read_document, document.path, seconds=seconds)
        return running.result
    return lambda: read_document(document.path)


def _loaded(document: DocumentFile, result: Callable[[], DocumentText], strict: bool, seconds: float) -> LoadedDocument:
    try:
        return LoadedDocument(document, result())
    except UnreadableDocument as error:
        why = str(error)
    except TimeoutError:
        why = f"not read within {seconds:g} seconds"
    except OSError as error:
        why = f"can't be opened ({error.strerror or error})"
    except (MemoryError, RuntimeError) as error:
        # WorkerDied is a RuntimeError: the process died, most likely because it ran out of memory
        why = f"reading it was aborted ({error or type(error).__name__})"
    if strict:
        raise IngestionError(f"{document.path}: {why}. Leave out --strict to ingest the others.")
    log.warning("%s: %s", document.path, why)
    return LoadedDocument(document, None, why)


MAX_BYTES = 100_000_000

# bytes from which a file of any format is read in such a process, where its memory is limited: JSON takes sixty times
# its size (measured with empty objects)
LARGE = 2_000_000

# how much of a text that is not UTF-8 is used to detect its encoding
SAMPLE = 50_000

# written by an ingest in a folder of its own; files of users with this name are not read
LOADED_SUFFIX = ".loaded"


def read_loaded(content: str) -> DocumentText:
    """The parts as one text: Markdown if it has a heading, else plain text. A page that no part has begins where the
    next one does."""
    read = json.loads(content)
    texts: list[str] = []
    pages: list[int] = []
    offset = 0
    for page, part in read["parts"]:
        pages += [offset] * max(0, (page or 0) - len(pages))
        texts.append(part)
        offset += len(part) + len(BLOCK_SEPARATOR)
    text = BLOCK_SEPARATOR.join(texts)
    if "\0" in text:
        raise UnreadableDocument("no text, but something binary")
    found = (read_markdown if _HEADING.search(text) else read_plain)(text)
    return DocumentText(found.text, found.blocks, read["title"] or found.title, found.marked, tuple(pages))


@cache
def document_readers() -> Mapping[str, DocumentReader]:
    """The readers by the ending of names, also those of extensions."""
    markdown, plain = DocumentReader(read_markdown), DocumentReader(read_plain)
    own = {**dict.fromkeys(("md", "markdown", "mdown", "mkd"), markdown), "txt": plain, "text": plain}
    readers = {**own, LOADED_SUFFIX[1:]: DocumentReader(read_loaded)}
    readers |= provided("documents", readers, lambda reader: isinstance(reader, DocumentReader))
    return {f".{ending}": reader for ending, reader in readers.items()}


def readable_formats() -> frozenset[str]:
    """The endings of documents that can be read, such as ".md"."""
    return frozenset(document_readers()) - {LOADED_SUFFIX}


# what is not read is reported; those in the second line need an extension
UNREADABLE_FORMATS = frozenset(
    {".doc", ".odt", ".rtf", ".epub", ".ppt", ".pptx", ".xls", ".xlsx", ".ods", ".rst", ".adoc", ".tex"}
    | {".docx", ".html", ".htm", ".xhtml", ".pdf"}
)


def read_document(path: Path) -> DocumentText:
    """The text of a file in blocks, by the format that its name says. Raises UnreadableDocument."""
    suffix = path.suffix.lower()
    reader = document_readers().get(suffix)
    if reader is None:
        raise UnreadableDocument(
            f"{suffix} is not read; convert it first, for example: pandoc {path.name} -o {path.stem}.md"
        )
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise UnreadableDocument(f"{size:,} bytes, more than {MAX_BYTES:,}")
    content = path.read_bytes()
    text = reader.read(content if reader.takes_bytes else decode_text(content))
    if len(text.text) > MAX_CHARACTERS:
        raise UnreadableDocument(f"{len(text.text):,} characters, more than {MAX_CHARACTERS:,}")
    if not text.blocks:
        raise UnreadableDocument("no text in it")
    return text


def decode_text(content: bytes) -> str:
    """The characters of a text file: UTF-8, the encoding of its byte order mark, or a detected encoding.

    >>> decode_text("\\ufeffcafé".encode()), decode_text("naïve".encode("utf-16"))
    ('café', 'naïve')
    """
    try:
        if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return content.decode("utf-16")
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        from charset_normalizer import from_bytes

        best = from_bytes(content[:SAMPLE]).best()
        if best is None:
            raise UnreadableDocument("no text, or in an encoding that can't be told. Save it as UTF-8") from None
        try:
            text = content.decode(best.encoding)
        except UnicodeDecodeError:
            raise UnreadableDocument("its encoding can't be told. Save it as UTF-8") from None
    if "\0" in text[:SAMPLE]:
        raise UnreadableDocument("no text, but something binary")
    return text


# many loaders return Markdown without naming the format
_HEADING = re.compile(r"^#{1,6} \S", re.MULTILINE)


def write_loaded(path: Path, title: str, parts: Sequence[tuple[int | None, str]]) -> None:
    """Write the parts of one document: the page of each (from 1; None if it has none) and its text."""
    path.write_text(json.dumps({"title": title, "parts": parts}), encoding="utf-8")


# documents and bytes of text that one loader may return (given); a file of documents may have as many bytes
MAX_DOCUMENTS, MAX_TEXT_BYTES = 20_000, 100_000_000

# characters of a source and of an error that are shown
MAX_SOURCE, MAX_ERROR = 300, 300

# what loaders call the source of a document, best first, and its page, with the number of their first page
SOURCE_KEYS = ("source", "url", "file_path", "title")

PAGE_KEYS = (("page_number", 1), ("page", 0))

MAX_PAGE = 100_000


class LoadedText(NamedTuple):
    """One document as its loader returned it. `page` counts from 1; None without pages."""

    source: str
    title: str
    page: int | None
    text: str


@contextmanager
def loaded_documents(loader: str, arguments: Mapping[str, str]) -> Iterator[list[DocumentFile]]:
    """The documents of the loader `module:Class`, as files that exist in the `with` block.

    Documents that follow each other with one source become one document; the pages of their metadata become its pages.
    Arguments are converted to the types that the class declares. Raises IngestionError if this is no installed
    subclass of BaseLoader, if an argument or the loader fails, and beyond the limits of documents and bytes.
    """
    found = _bounded(_documents_of(_make_loader(loader, arguments), loader), loader)
    with TemporaryDirectory(prefix="nacre-loaded-") as folder:
        yield _write_files(found, Path(folder))


def _make_loader(loader: str, arguments: Mapping[str, str]) -> BaseLoader:
    kind = _loader_class(loader)
    try:
        return kind(**_converted(kind, arguments))
    except IngestionError:
        raise
    except Exception as error:
        raise IngestionError(f"{loader} can't be created: {_words_of(error)}. Check --loader-args.") from error


def _loader_class(loader: str) -> type[BaseLoader]:
    """The class behind `module:Class`."""
    module, _, name = loader.partition(":")
    if not all(part.isidentifier() for part in (*module.split("."), name)):
        raise IngestionError(
            f"--loader {loader!r}: use MODULE:CLASS, for example langchain_unstructured:UnstructuredLoader."
        )
    try:
        found = getattr(importlib.import_module(module), name, None)
    except ImportError as error:
        package = module.partition(".")[0].replace("_", "-")
        raise IngestionError(
            f"--loader {loader!r}: {_words_of(error)}. Install its package first, for example: pip install {package}"
        ) from error
    except Exception as error:
        raise IngestionError(f"--loader {loader!r}: importing {module} failed: {_words_of(error)}.") from error
    if not (isinstance(found, type) and issubclass(found, BaseLoader)) or found is BaseLoader or isabstract(found):
        raise IngestionError(
            f"--loader {loader!r} is no document loader: it must be a subclass of"
            " langchain_core.document_loaders.BaseLoader."
        )
    return found


def _converted(kind: type[BaseLoader], arguments: Mapping[str, str]) -> dict[str, Any]:
    """The arguments with the types that the class declares; texts where it declares none."""
    taken = signature(kind).parameters
    free = any(each.kind is Parameter.VAR_KEYWORD for each in taken.values())
    if unknown := sorted(set(arguments) - set(taken)) if not free else []:
        names = ", ".join(name for name, each in taken.items() if each.kind is not Parameter.VAR_POSITIONAL)
        raise IngestionError(f"{kind.__name__} takes no argument {unknown[0]!r}. It takes: {names or 'none'}.")
    try:
        hints = get_type_hints(kind.__init__)
    except (NameError, TypeError):  # annotations that name what was imported for type checkers alone
        hints = {}
    return {name: _value(name, text, hints[name]) if name in hints else text for name, text in arguments.items()}


def _value(name: str, text: str, kind: Any) -> Any:
    """A text as a value of a type: as it is, or read as JSON."""
    try:
        adapter = TypeAdapter(kind)
    except Exception:  # a type that pydantic has no schema for
        return text
    for read in (adapter.validate_python, adapter.validate_json):
        try:
            return read(text)
        except ValidationError:
            log.debug("%s is no %s by %s", name, kind, read.__name__)
    raise IngestionError(f"--loader-args {name}={text[:MAX_ERROR]}: this is no {getattr(kind, '__name__', kind)}.")


def _documents_of(loader: BaseLoader, name: str) -> Iterator[LoadedText]:
    try:
        for number, document in enumerate(loader.lazy_load(), 1):
            metadata = document.metadata
            source = next((str(metadata[key]) for key in SOURCE_KEYS if metadata.get(key)), f"document {number}")
            title = str(metadata.get("title") or "")
            yield LoadedText(
                _line(source, MAX_SOURCE), _line(title, MAX_SOURCE), _page(metadata), document.page_content
            )
    except Exception as error:
        raise IngestionError(f"{name} failed: {_words_of(error)}.") from error


def _page(metadata: Mapping[str, Any]) -> int | None:
    for key, first in PAGE_KEYS:
        page = metadata.get(key)
        if isinstance(page, int) and not isinstance(page, bool) and first <= page <= MAX_PAGE:
            return page - first + 1
    return None


def _bounded(documents: Iterable[LoadedText], loader: str) -> Iterator[LoadedText]:
    size = 0
    for number, document in enumerate(documents, 1):
        size += len(document.text.encode(errors="replace"))
        if number > MAX_DOCUMENTS or size > MAX_TEXT_BYTES:
            raise IngestionError(
                f"{loader} returns more than {MAX_DOCUMENTS:,} documents or {MAX_TEXT_BYTES:,} bytes."
                " Ask it for less by --loader-args, or for a part at a time."
            )
        yield document


def _write_files(documents: Iterable[LoadedText], folder: Path) -> list[DocumentFile]:
    """One file for each source, in order, with a name of its own."""
    files: list[DocumentFile] = []
    names: dict[str, int] = {}
    by_source: Callable[[LoadedText], str] = lambda document: document.source  # noqa: E731
    for number, (source, parts) in enumerate(groupby(documents, by_source), 1):
        names[source] = names.get(source, 0) + 1
        name = source if names[source] == 1 else f"{source} ({names[source]})"
        path = folder / f"{number:06}.loaded"
        texts = list(parts)
        write_loaded(path, texts[0].title, [(text.page, text.text) for text in texts])
        files.append(DocumentFile(path, name, name))
    if not files:
        raise IngestionError("The loader returned no document. Check --loader-args.")
    return files


def _words_of(error: Exception) -> str:
    """An error in one short line."""
    return f"{type(error).__name__}: {_line(str(error), MAX_ERROR)}".rstrip(". :")


def _line(text: str, most: int) -> str:
    return " ".join(strip_control_characters(text[: most * 4]).split())[:most]
