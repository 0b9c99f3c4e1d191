"""Documents: plain text, Markdown, HTML, PDF, Word, CSV and JSON, and those of a LangChain loader -> passages.

Reading order:
    read_document  files, folders and globs -> documents -> their texts, by format, within limits of time and memory
    passages       documents -> passages, and the things they mention
    page_formats   HTML, PDF and Word, read in a process of their own
    data_formats   the rows of CSV and TSV, the objects of JSON
    loaders        documents of a LangChain loader
"""
