"""Writing layer files: drafts of a model, and the JSON Schema with which editors complete them.

In reading order:
    command      `nacre layer draft`; the JSON Schema
    draft_layer  the facts of a graph -> entries of a layer, in a few calls; entries that are added to a file
"""
