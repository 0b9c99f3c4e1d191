"""Writing layer files: drafts of a model, and the JSON Schema with which editors complete them.

In reading order:
    command      `nacre layer draft`
    draft_layer  the facts of a graph -> entries of a layer, in a few calls; entries that are added to a file
    json_schema  the JSON Schema of layer files
"""
