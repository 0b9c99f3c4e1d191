"""From files to facts.

Files in reading order:
    inputs.py        the inputs of an ingest and their hash
    sources.py       files, folders and globs -> RDF files
    formats.py       detect the format of an RDF file
    parse.py         RDF files -> facts and omissions
    rdf_document.py  open one RDF file
    expansion.py     limits of what a file may expand to
    statements.py    parse the statements of one document, repair it if needed
    contexts.py      inline remote JSON-LD contexts
    fetch_context.py download contexts
    json_limits.py   limits of JSON-LD
    terms.py         the parser's terms -> texts and sorts
    capsules.py      all facts in compact arrays, grouped by subject
    blank_nodes.py   labels of blank nodes by their content
    omissions.py     what was left out
    documents/       documents -> text in blocks
"""
