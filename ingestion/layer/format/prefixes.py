"""Short names of namespaces: CURIE -> IRI."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

import yaml

# namespaces that are written with both schemes; a layer means both
BOTH_SCHEMES = ("https://schema.org/", "http://schema.org/")


@cache
def known_prefixes() -> Mapping[str, str]:
    """The prefixes that every layer has."""
    text = Path(__file__).with_name("prefixes.yaml").read_text(encoding="utf-8")
    return MappingProxyType({str(key): str(value) for key, value in yaml.safe_load(text).items()})


def expand_name(name: str, prefixes: Mapping[str, str]) -> str:
    """The IRI of `<iri>`, a full IRI or a CURIE with a known prefix; "" for other texts.

    >>> expand_name("ex:a", {"ex": "http://e/"}), expand_name("<urn:x>", {}), expand_name("year cast", {})
    ('http://e/a', 'urn:x', '')
    """
    if name.startswith("<") and name.endswith(">"):
        return name[1:-1]
    prefix, mark, local = name.partition(":")
    if not mark or " " in name:
        return ""
    if local.startswith("//") or prefix == "urn":
        return name
    return prefixes[prefix] + local.replace("\\", "") if prefix in prefixes else ""


def iri_variants(iri: str) -> tuple[str, ...]:
    """The IRI, and the same with the other scheme of its namespace, if both are in use."""
    for one, other in (BOTH_SCHEMES, BOTH_SCHEMES[::-1]):
        if iri.startswith(one):
            return iri, other + iri[len(one) :]
    return (iri,)
