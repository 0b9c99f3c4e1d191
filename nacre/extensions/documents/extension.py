"""The declaration of documents."""

from nacre.extension import Extension

_FILES, _PASSAGES = "nacre.extensions.documents.read_document", "nacre.extensions.documents.passages"
_FORMATS = "nacre.extensions.documents.formats"

EXTENSION = Extension(
    "documents",
    documents={
        "csv": f"{_FORMATS}:CSV",
        "tsv": f"{_FORMATS}:TSV",
        **dict.fromkeys(("json", "jsonl", "ndjson"), f"{_FORMATS}:JSON"),
        **dict.fromkeys(("html", "htm", "xhtml"), f"{_FORMATS}:HTML"),
        "pdf": f"{_FORMATS}:PDF",
        "docx": f"{_FORMATS}:DOCX",
    },
    services={
        "load": f"{_FILES}:loaded_documents",
        "find": f"{_FILES}:find_documents",
        "write": f"{_FILES}:write_loaded",
        "formats": f"{_FILES}:readable_formats",
        "verbalise": f"{_PASSAGES}:verbalise_documents",
        "passages": f"{_PASSAGES}:passages_of_files",
    },
)
