"""The semantic layer: what people call things, and what stands behind several nodes: YAML -> Facts and names.

In reading order:
    entries     the records of a layer
    layer_file  a YAML file -> a layer; the layers of a version in its folder
    resolve     the classes and properties of a graph that a layer means; packs; the names that a layer gives
    apply       packs and files of an ingest -> one layer, applied; what each entry gives; layer files are written
"""
