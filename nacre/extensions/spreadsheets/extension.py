"""The declaration of spreadsheets."""

from nacre.extension import Extension

_DELIMITED = "nacre.extensions.spreadsheets.read_delimited"

_WORKBOOK = "nacre.extensions.spreadsheets.read_workbook:read_workbook"

EXTENSION = Extension(
    "spreadsheets",
    tables={
        **dict.fromkeys(("csv", "tsv", "tab"), f"{_DELIMITED}:read_delimited"),
        **dict.fromkeys(("jsonl", "ndjson"), f"{_DELIMITED}:read_json_lines"),
        **dict.fromkeys(("xlsx", "xlsm", "xlsb", "xls", "ods", "parquet"), _WORKBOOK),
    },
    routes="nacre.extensions.spreadsheets.preview:add_preview",
    services={
        "read": "nacre.extensions.spreadsheets.triples:read_tables",
        "export": "nacre.extensions.spreadsheets.triples:export_cells",
    },
)
