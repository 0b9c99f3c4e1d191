"""From RDF files to facts.

In reading order:
    sources        files, folders and globs -> RDF files with their formats, and the hash of all inputs
    parse          RDF files -> Facts and omissions
    statements     one document -> terms, invalid statements skipped
    json_ld        limits of JSON-LD, and its remote contexts written inline
    fetch_context  download a context
    facts          all triples in compact arrays, grouped by subject; what was left out
"""
