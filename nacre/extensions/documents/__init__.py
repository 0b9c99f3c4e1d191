"""Documents besides plain text and Markdown: HTML, PDF, Word, CSV and JSON, and those of a LangChain loader.

Reading order:
    page_formats  HTML, PDF and Word, read in a process of their own
    data_formats  the rows of CSV and TSV, the objects of JSON
    loaders       documents of a LangChain loader
"""
