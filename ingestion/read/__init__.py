"""From RDF files to facts.

In reading order:
    sources     files, folders and globs -> RDF files with their formats, and the hash of all inputs
    tables      files of tables: what readers of extensions give, and what is reported
    parse       RDF files -> Facts and omissions
    statements  one document -> terms, invalid statements skipped
    facts       all triples in compact arrays, grouped by subject; what was left out
"""
