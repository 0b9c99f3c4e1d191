"""Links to IRIs that the graph does not describe, such as codes and addresses, become texts. Draft -> Draft."""

import re
from collections import Counter
from urllib.parse import urlsplit

import numpy as np

from ingestion.induce.names.column_names import label_from_iri, readable_name
from ingestion.meaning.draft import Draft
from ingestion.read.capsules import unique_counts
from ingestion.vocabulary import OWL, RDF, RDFS, SCHEMA_PREDICATES, SKOS, TYPE, local_name
from nacre.language.base import word_list

# minimum share of undescribed targets; with fewer, the property links to things of the graph of which some are missing
MIN_UNDESCRIBED_SHARE = 0.9
# maximum number of links of one property
MAX_UNDESCRIBED_LINKS = 200_000
# maximum number of distinct texts of one property
MAX_IRI_TEXTS = 30
REASON = "nothing is said of its target"
_TERM = re.compile(r"https?://\S+")

_FILE = re.compile(r"\.[a-z]{2,4}\d?$", re.IGNORECASE)
# the end of "by/4.0" has no meaning alone
_VERSION = re.compile(r"/v?\d+(\.\d+)+/?$")


def name_undescribed_targets(draft: Draft) -> None:
    """If a property links almost only to undescribed IRIs, derive texts from these and hide the links."""
    facts = draft.facts
    described = np.zeros(len(facts.texts), dtype=bool)
    described[facts.subject] = True
    described[[subject for subject, *_ in draft.added if subject < len(described)]] = True
    is_iri = facts.kinds("iri")
    described[facts.object[facts.predicate == (draft.predicate(TYPE) or -1)]] = True
    described[facts.predicate] = True
    open_ = is_iri[facts.object] & ~described[facts.object]
    for number in unique_counts(facts.predicate[open_])[0].tolist():
        iri = draft.text(number)
        if iri in SCHEMA_PREDICATES or iri.startswith((OWL, RDF, RDFS, SKOS)):
            continue
        mine = facts.predicate == number
        targets = unique_counts(facts.object[mine & ~facts.is_literal[facts.object]])[0]
        rows = np.flatnonzero(mine & open_)
        bare = unique_counts(facts.object[rows])[0].tolist()
        if len(bare) >= MIN_UNDESCRIBED_SHARE * len(targets) and len(rows) <= MAX_UNDESCRIBED_LINKS:
            _replace_links(draft, iri, rows.tolist(), _target_texts(draft, iri, bare))
    _name_texts(draft)


def _name_texts(draft: Draft) -> None:
    """Replace IRIs in literals by their words, if a property has few distinct ones that are not addresses."""
    facts = draft.facts
    literal = np.flatnonzero(facts.is_literal[facts.object])
    # one text of each property excludes most properties without IRIs
    one = np.zeros(len(facts.texts), dtype=np.int32)
    one[facts.predicate[literal]] = facts.object[literal]
    for number in facts.predicates:
        if not draft.text(int(one[number])).startswith("http"):
            continue
        rows = literal[facts.predicate[literal] == number]
        values = unique_counts(facts.object[rows])[0].tolist()
        # texts that are unique to each thing are addresses
        few = len(values) <= MAX_IRI_TEXTS and len(values) < len(rows) <= MAX_UNDESCRIBED_LINKS
        if few and all(_TERM.fullmatch(draft.text(value)) for value in values):
            said = _target_texts(draft, draft.text(number), values)
            if not any(map(_TERM.fullmatch, said.values())):
                _replace_links(draft, draft.text(number), rows.tolist(), said)


def _replace_links(draft: Draft, iri: str, rows: list[int], said: dict[int, str]) -> None:
    for row in rows:
        subject, _, target = draft.row(row)
        if row not in draft.hidden:
            draft.hide([row], REASON)
            draft.add(subject, iri, draft.literal(said[target]))


def _target_texts(draft: Draft, predicate: str, targets: list[int]) -> dict[int, str]:
    """A text for each target: addresses as they are, others by their local names if these are unique."""
    words = readable_name(local_name(predicate)).lower().split()
    address = not word_list("ingestion", "address_words").isdisjoint(words)
    texts = {target: draft.text(target) for target in targets}
    named = {t: iri if address or _is_address(iri) else _local_words(iri) for t, iri in texts.items()}
    often = Counter(named.values())
    return {t: name if often[name] == 1 else texts[t] for t, name in named.items()}


def _local_words(iri: str) -> str:
    scheme, found, rest = iri.partition(":")
    return rest if found and scheme.lower() in ("mailto", "tel") else label_from_iri(iri)


def _is_address(iri: str) -> bool:
    """Whether an IRI is the address of a page or a file: only a host, a query, or a path with an extension or a
    version.

    >>> _is_address("http://example.org"), _is_address("http://example.org/a.pdf"), _is_address("http://example.org/a")
    (True, True, False)
    """
    parts = urlsplit(iri)
    if parts.scheme not in ("http", "https", "ftp") or parts.fragment:
        return False
    return (
        not parts.path.strip("/") or bool(parts.query) or bool(_FILE.search(parts.path) or _VERSION.search(parts.path))
    )
