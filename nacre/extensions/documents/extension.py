"""The declaration of further formats of documents."""

from nacre.extension import Extension

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
    services={"load": "nacre.extensions.documents.loaders:loaded_documents"},
)
