"""Documents: files -> their text in blocks, each with its place in the text.

Files in reading order:
    find.py           files, folders and globs -> document files
    load.py           read documents in order, with limits of time and memory
    read_document.py  read one document by its format
    text.py           the text of a document and its blocks
    plain.py, markdown.py, table.py, json_data.py   formats that are text
    web.py, pdf.py, word.py                         formats that are read in a separate process
    loaders.py, loaded.py                           documents of a LangChain loader
"""
