"""A template of a layer: Schema -> YAML with all classes and properties, commented out."""

import json

from nacre.records.schema import Schema


def suggest_annotations(schema: Schema) -> str:
    """A template in YAML: every class and predicate with its properties, all commented out."""
    lines = ["# Take away the '#' of what you want to change; see docs for the keys.", "classes:"]
    for shown in schema.classes:
        lines += [f"  # {_yaml(shown.iri)}:", f"  #   name: {_yaml(shown.label)}"]
        lines += [f"  #   comment: {_yaml(shown.comment)}", "  #   hidden: false"]
    lines.append("properties:")
    for predicate in schema.predicates:
        lines += [f"  # {_yaml(predicate.iri)}:", f"  #   name: {_yaml(predicate.label)}"]
        lines += [
            f"  #   comment: {_yaml(predicate.comment)}",
            f"  #   unit: {_yaml(predicate.unit)}",
            "  #   hidden: false",
        ]
    return "\n".join(lines) + "\n"


def _yaml(text: str) -> str:
    return json.dumps(" ".join(text.split()), ensure_ascii=False)
