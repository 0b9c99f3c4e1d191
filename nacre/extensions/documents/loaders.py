"""Documents of a LangChain loader: class and arguments -> document files, each with the source it is cited by."""

import importlib
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from inspect import Parameter, isabstract, signature
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, get_type_hints

from langchain_core.document_loaders import BaseLoader
from pydantic import TypeAdapter, ValidationError

from ingestion.documents.text_formats import DocumentFile
from nacre.errors import IngestionError
from nacre.extensions.documents.read_document import write_loaded
from nacre.language.sanitize import strip_control_characters

log = logging.getLogger(__name__)

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
