"""Apply a semantic layer to an endpoint, where nothing can be materialised: ProbeResult + LayerFiles -> ProbeResult.

Files in reading order:
    patterns.py      entries -> SPARQL patterns of what they derive
    sample.py        a derived class or property -> its samples
    declare.py       the names of a layer -> declarations
    apply.py         packs and files -> samples with what they derive, and what was left out
    check.py         what each entry of a layer gives at an endpoint
"""
