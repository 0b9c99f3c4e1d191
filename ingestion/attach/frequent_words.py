"""Find words that are too frequent in names to be distinctive: samples of names -> word -> share of all things."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from ingestion.attach.budget import BudgetedEndpoint
from nacre.language.tokens import name_tokens
from nacre.plans.sparql.derived import write_membership
from nacre.records.schema import Schema

# number of type sets whose names are sampled, largest first, and number of names of each
MOST_KINDS, NAMES = 30, 500
# words of fewer things are distinctive
MIN_FREQUENT_SHARE = 0.005


def frequent_words(asking: BudgetedEndpoint, schema: Schema, names: Sequence[str]) -> dict[str, float]:
    """The words in the names of more than `MIN_FREQUENT_SHARE` of all things, by a sample of each type set."""
    if not names:
        return {}
    predicates = ", ".join(f"<{iri}>" for iri in names)
    shares: dict[str, float] = defaultdict(float)
    things = sum(group.count for group in schema.groups)
    for group in schema.groups[:MOST_KINDS]:
        types = " ".join(write_membership(schema, iri, "?s", f"?k{i}") for i, iri in enumerate(group.classes))
        some = f"{{ SELECT ?s WHERE {{ {types} }} LIMIT {NAMES} }}"
        rows = asking.texts(f"SELECT ?s ?l WHERE {{ {some} ?s ?p ?l FILTER(?p IN ({predicates})) }}", 4 * NAMES)
        said = {(thing, word) for thing, name in rows or () for word in name_tokens(name)}
        seen = len({thing for thing, _ in said})
        for word, n in Counter(word for _, word in said).items():
            shares[word] += n / seen * group.count / things
    return {word: round(share, 4) for word, share in sorted(shares.items()) if share > MIN_FREQUENT_SHARE}
