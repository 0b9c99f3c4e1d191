"""Documents: plain text, Markdown, HTML, PDF, Word, CSV and JSON, and those of a LangChain loader -> passages.

Reading order:
    read_document  files, globs, loaders -> documents -> their texts, within limits of time and memory
    formats        bytes of tables, JSON, HTML, PDF and Word -> the text of a document
    passages       documents -> passages, and the things they mention
"""
