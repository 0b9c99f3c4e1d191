"""The declaration of documents."""

from nacre.extension import Extension

_FILES, _PASSAGES = "nacre.extensions.documents.read_document", "nacre.extensions.documents.passages"
_DATA, _PAGES = "nacre.extensions.documents.data_formats", "nacre.extensions.documents.page_formats"

EXTENSION = Extension(
    "documents",
    documents={
        "csv": f"{_DATA}:CSV",
        "tsv": f"{_DATA}:TSV",
        **dict.fromkeys(("json", "jsonl", "ndjson"), f"{_DATA}:JSON"),
        **dict.fromkeys(("html", "htm", "xhtml"), f"{_PAGES}:HTML"),
        "pdf": f"{_PAGES}:PDF",
        "docx": f"{_PAGES}:DOCX",
    },
    services={
        "load": "nacre.extensions.documents.loaders:loaded_documents",
        "find": f"{_FILES}:find_documents",
        "write": f"{_FILES}:write_loaded",
        "formats": f"{_FILES}:readable_formats",
        "verbalise": f"{_PASSAGES}:verbalise_documents",
        "passages": f"{_PASSAGES}:passages_of_files",
    },
)
