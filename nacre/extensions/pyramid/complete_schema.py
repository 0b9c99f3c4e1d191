"""Complete the schema of a graph from its extracted triples: ExtractedLayer + Graph -> Proposals -> a LayerFile.

The layer names classes and properties, and its rules have the statements of the texts. Proposals are classes and
attributes that extracted triples have and the schema lacks. In order: proposals, extracted triples grouped by relation
and relations with one meaning merged, the semantic distributions of two layers compared, and k-medoids (partitioning
around medoids).

PolyRAG, section 3.2: the phrases of both layers share one vector space. Each layer is a Gaussian. The regions that
are dense in triples and sparse in the ontology are clustered by k-medoids. The Gaussians are compared in log
densities, since densities in hundreds of dimensions are outside the range of floats."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ingestion.index.triples import is_plain_iri, ntriples_literal
from ingestion.layer.apply import layer_text
from ingestion.layer.layer_file import LayerFile, LayerFiles, read_layer, read_layer_files
from ingestion.vocabulary import LABEL, TYPE
from nacre.errors import ConfigError
from nacre.extensions.pyramid.extract_triples import MIN_STATEMENT_CONFIDENCE, publish_triples
from nacre.language.sanitize import strip_control_characters
from nacre.language.tokens import fold, name_tokens
from nacre.records.evidence import EXTRACTED_NAMESPACE, ExtractedTriple
from nacre.records.schema import Schema
from nacre.stores import versions
from nacre.stores.catalog import Graph
from nacre.stores.sqlite.triples import ExtractedLayer, StatedTriples
from nacre.stores.vectors import Embedder

ChangeLayers = Callable[[Callable[[LayerFiles], LayerFiles]], object]

# maximum number of compared relations, the most frequent ones (limits time and memory)
MAX_COMPARED = 800


@dataclass(frozen=True)
class Proposal:
    """A class, or an attribute of the class `domain`, that texts state and the schema lacks.

    `relations` are the extracted relations that express it, `label` among them. `priority` is that of equation 7 at
    its medoid, as sign(Pr) log(1 + |Pr|). `key` is set if the property exists and only lacks these facts.
    """

    kind: Literal["class", "attribute"]
    domain: str
    label: str
    relations: tuple[str, ...]
    instances: tuple[ExtractedTriple, ...]
    priority: float
    key: str = ""

    @property
    def support(self) -> int:
        """How many subjects have it."""
        return len({each.subject_key or each.subject for each in self.instances})


@dataclass(frozen=True)
class SchemaCompletion:
    """The proposals, and which relations are condensed into another one."""

    proposals: tuple[Proposal, ...]
    condensed: Mapping[str, str]
    triples: int


def complete_schema(graph: Graph, embedder: Embedder) -> SchemaCompletion:
    """What the extracted triples hold that the schema lacks, and their near-duplicate relations; writes nothing.

    What an earlier completion added is proposed again. Raises ConfigError where nothing was extracted.
    """
    triples = _extracted(graph).all()
    lexicon = graph.lexicon
    labels = {group.relation: group.label for group in graph.schema.groups}

    def class_of(key: str) -> str:
        thing = lexicon.thing(key)
        return labels.get(thing.relation, thing.relation) if thing is not None else ""

    def embed(phrases: Sequence[str]) -> Array:
        return np.asarray(embedder.embed(list(phrases)), dtype=np.float64)

    known = group_relations(triples, class_of)
    several = [each for each in known if len(each.triples) > 1 and each.domain][:MAX_COMPARED]
    condensed: Mapping[str, str] = {}
    if several:
        similarity = relation_similarity(several, embed([each.phrase for each in several]))
        condensed = condense_relations(several, similarity)
    merged = group_relations(
        [replace(t, relation=condensed.get(t.relation.casefold(), t.relation)) for t in triples], class_of
    )
    # the property of the graph that a relation, or one condensed into it, expresses
    keyed = [replace(each, key=next((t.relation_key for t in each.triples if t.relation_key), "")) for each in merged]
    found = []
    for each in find_proposals(keyed, _without_texts(graph.schema), embed):
        names = (*each.relations, *(name for name, into in condensed.items() if into in each.relations))
        found.append(replace(each, relations=tuple(dict.fromkeys(names))))
    return SchemaCompletion(tuple(found), condensed, len(triples))


def _without_texts(schema: Schema) -> Schema:
    """The schema without the classes and properties of an earlier completion."""
    return replace(
        schema,
        classes=tuple(each for each in schema.classes if not each.iri.startswith(EXTRACTED_NAMESPACE)),
        predicates=tuple(each for each in schema.predicates if not each.iri.startswith(EXTRACTED_NAMESPACE)),
    )


def publish_condensed(home: Path, graph: Graph, condensed: Mapping[str, str]) -> str:
    """Publish the layer with condensed relations (none: as extracted); its triples stay unchanged."""
    return publish_triples(home, graph.version, _extracted(graph).all(), condensed)


@dataclass(frozen=True)
class CompletionLayer:
    """The file, how many statements it has, and how many it can't have: about blank nodes, or too many for a file."""

    file: LayerFile
    statements: int
    left_out: int


def apply_completion(home: Path, graph: Graph, completion: SchemaCompletion, change: ChangeLayers) -> CompletionLayer:
    """Condense the relations, and apply the proposals as a layer; `change` publishes a version of this graph."""
    written = completion_layer(completion.proposals, graph.schema, StatedTriples(graph.tables))
    publish_condensed(home, graph, completion.condensed)
    change(lambda present: present.replaced((written.file,)))
    return written


def remove_completion(home: Path, change: ChangeLayers) -> bool:
    """Remove the layer of an earlier completion; returns whether there was one. The extracted triples stay."""
    version = versions.current_version(home)
    files = read_layer_files(versions.version_folder(home, version)).files if version is not None else ()
    if COMPLETION not in {each.name for each in files}:
        return False
    change(lambda present: present.without(COMPLETION))
    return True


def _extracted(graph: Graph) -> ExtractedLayer:
    if graph.extracted is None:
        raise ConfigError(
            f"Nothing is extracted beside {graph.name!r} yet. Run: nacre extract --apply --graph {graph.name}"
        )
    return graph.extracted


COMPLETION = "completion.yaml"

# characters of all statements; a layer file has at most 1 MB
MAX_STATEMENTS = 900_000

# statements of a rule: four tokens each, and a query has at most 600 (given)
MAX_RULE = 120

_HEAD = "# Stated by the texts of the graph: nacre complete --apply. To undo: nacre complete --remove\n"


class Statement(NamedTuple):
    """A triple of the layer; subject and predicate are IRIs, the value is written as in SPARQL."""

    subject: str
    predicate: str
    value: str


def completion_layer(found: Sequence[Proposal], schema: Schema, stated: StatedTriples) -> CompletionLayer:
    """Write the proposals as a layer. `stated` are the triples of the graph: a property with one value keeps its own.
    Raises IngestionError for proposals that no layer can have."""
    every = dict.fromkeys(each for proposal in found for each in _statements(proposal, schema, stated))
    kept, size = [], 0
    for each in every:
        if is_plain_iri(each.subject) and (each.value.startswith('"') or is_plain_iri(each.value[1:-1])):
            size += len(each.subject) + len(each.value)
            kept += [each] if size <= MAX_STATEMENTS else []
    text = _HEAD + layer_text({**_names(found), "rules": list(_rules(kept))})
    read_layer(Path(COMPLETION), text)
    return CompletionLayer(LayerFile(COMPLETION, text), len(kept), len(every) - len(kept))


def _names(found: Sequence[Proposal]) -> Mapping[str, Mapping[str, Any]]:
    """What the new classes and properties are called."""
    classes = {_iri("class:", each.label): {"name": each.label} for each in found if each.kind == "class"}
    others: dict[str, list[str]] = defaultdict(list)
    labels: dict[str, str] = {}
    for each in found:
        if each.kind == "attribute" and not each.key:
            name = labels.setdefault(_iri("", each.label), each.label)
            others[name] += [relation for relation in each.relations if relation != name]
    properties = {
        iri: {"name": name} | ({"also": list(dict.fromkeys(others[name]))} if others[name] else {})
        for iri, name in labels.items()
    }
    return {"classes": classes, "properties": properties}


def _statements(proposal: Proposal, schema: Schema, stated: StatedTriples) -> Iterator[Statement]:
    """The statements of a proposal that are sure enough, with the names of things that the graph lacks."""
    for each in proposal.instances:
        if each.confidence < MIN_STATEMENT_CONFIDENCE:
            continue
        subject = each.subject_key or _iri("thing:", each.subject)
        predicate = TYPE if proposal.kind == "class" else proposal.key or _iri("", proposal.label)
        if proposal.key and not _may_have(subject, each, proposal.key, schema, stated):
            continue
        if not each.subject_key:
            yield Statement(subject, LABEL, _literal(each.subject))
        value = f"<{each.object_key}>" if each.object_key else _literal(each.object)
        yield Statement(subject, predicate, f"<{_iri('class:', proposal.label)}>" if predicate == TYPE else value)


def _may_have(subject: str, each: ExtractedTriple, key: str, schema: Schema, stated: StatedTriples) -> bool:
    """Whether a property of the graph allows the value, and does not have its only one."""
    predicate = schema.predicate_of.get(key)
    if predicate is None or not (predicate.has_links if each.object_key else predicate.has_literals):
        return False
    return not (predicate.functional and stated.with_subject(subject, key))


def _rules(statements: Sequence[Statement]) -> Iterator[str]:
    by_predicate: dict[str, list[Statement]] = defaultdict(list)
    for each in statements:
        by_predicate[each.predicate].append(each)
    for predicate, own in by_predicate.items():
        for start in range(0, len(own), MAX_RULE):
            rows = " ".join(f"(<{each.subject}> {each.value})" for each in own[start : start + MAX_RULE])
            yield f"CONSTRUCT {{ ?this <{predicate}> ?value }} WHERE {{ VALUES (?this ?value) {{ {rows} }} }}"


def _iri(kind: str, name: str) -> str:
    return f"{EXTRACTED_NAMESPACE}{kind}{'_'.join(name_tokens(name))}"


def _literal(text: str) -> str:
    return ntriples_literal(strip_control_characters(text), "", "")


Array = NDArray[np.float64]

Embed = Callable[[Sequence[str]], Array]

# minimum number of things with a class or an attribute (given)
MIN_SUPPORT = 3

# bounds of time and memory: relations of a class, phrases of a layer, points of a Gaussian; the most frequent first
MAX_RELATIONS, MAX_PHRASES, MAX_POINTS = 120, 4000, 20_000

IS_A = "is a"


def ontology_phrases(schema: Schema) -> list[str]:
    """The labels of the classes, then the labels of class and attribute for all pairs in the schema."""
    facts = [p for p in schema.predicates if p.role in ("fact", "text", "identifier")]
    pairs = [f"{c.label} {p.label}" for c in schema.classes for p in facts if c.iri in p.domains]
    return [*(c.label for c in schema.classes), *pairs][:MAX_PHRASES]


@dataclass(frozen=True)
class ExtractedRelation:
    """A relation of the things of one class. `domain` is the label of the class, or "" if the graph knows none of the
    subjects. `key` is the property of the graph with the same meaning, or "". `triples` are its statements."""

    domain: str
    name: str
    key: str
    triples: tuple[ExtractedTriple, ...]

    @property
    def phrase(self) -> str:
        """Class and relation in words, like the phrases of the ontology (PolyRAG, section 3.2)."""
        return f"{self.domain} {self.name}".strip()

    @property
    def objects(self) -> frozenset[str]:
        return frozenset(fold(each.object) for each in self.triples)


def find_proposals(relations: Sequence[ExtractedRelation], schema: Schema, embed: Embed) -> list[Proposal]:
    """New classes, new attributes by falling priority, then new facts for properties of the schema. Empty if there are
    no triples."""
    known = [
        Proposal("attribute", each.domain, each.name, (each.name,), each.triples, 0.0, each.key)
        for each in relations
        if each.key
    ]
    new = [each for each in relations if not each.key and each.name != IS_A]
    if not new:
        return [*_classes(relations), *known]
    phrases = list(dict.fromkeys(each.phrase for each in relations))[:MAX_PHRASES]
    vectors = dict(zip(phrases, embed(phrases), strict=True))
    ontology = fit_gaussian(embed(ontology_phrases(schema) or [""]))
    triples = fit_gaussian(
        _weighted_points([(vectors[each.phrase], len(each.triples)) for each in relations if each.phrase in vectors])
    )
    points = np.array([vectors[each.phrase] for each in new if each.phrase in vectors])
    priorities = completion_priorities(ontology.log_density(points), triples.log_density(points))
    region = [(r, v, float(p)) for r, v, p in zip(new, points, priorities, strict=False) if p > 0 and r.domain]
    attributes = [
        proposal
        for domain in dict.fromkeys(r.domain for r, _, _ in region)
        for proposal in _attributes(domain, [each for each in region if each[0].domain == domain][:MAX_RELATIONS])
    ]
    attributes.sort(key=lambda each: (-each.priority, each.domain, each.label))
    return [*_classes(relations), *attributes, *known]


def _weighted_points(counted: Sequence[tuple[Array, int]]) -> Array:
    """One point per triple, so that the density is that of the triples and not of their vocabulary. Large layers are
    reduced in proportion."""
    share = min(1.0, MAX_POINTS / sum(count for _, count in counted))
    return np.concatenate([np.tile(vector, (max(1, round(count * share)), 1)) for vector, count in counted])


def _attributes(domain: str, region: Sequence[tuple[ExtractedRelation, Array, float]]) -> list[Proposal]:
    """One proposal per cluster of the relations of a class, named after its medoid."""
    relations = [relation for relation, _, _ in region]
    similarity = relation_similarity(relations, np.array([vector for _, vector, _ in region]))
    medoids, owner = cluster_within(1 - similarity, 1 - MIN_SIMILARITY)
    proposals = []
    for position, medoid in enumerate(medoids):
        members = [relation for relation, own in zip(relations, owner, strict=True) if own == position]
        instances = tuple(triple for relation in members for triple in relation.triples)
        label = relations[medoid].name
        names = tuple(dict.fromkeys((label, *(relation.name for relation in members))))
        proposal = Proposal("attribute", domain, label, names, instances, round(region[medoid][2], 3))
        # an attribute with one value for all things distinguishes none of them
        differs = len({fold(each.object) for each in instances}) > 1
        proposals += [proposal] if proposal.support >= MIN_SUPPORT and differs else []
    return proposals


def _classes(relations: Sequence[ExtractedRelation]) -> list[Proposal]:
    """The classes that the texts state of things unknown to the graph."""
    by_class: dict[str, list[ExtractedTriple]] = {}
    for relation in relations:
        if relation.name == IS_A and not relation.domain:
            for triple in relation.triples:
                by_class.setdefault(fold(triple.object), []).append(triple)
    proposals = [
        Proposal("class", "", name, (IS_A,), tuple(instances), 0.0) for name, instances in sorted(by_class.items())
    ]
    return [each for each in proposals if each.support >= MIN_SUPPORT]


# Minimum similarity at which two relations count as the same. In the synthetic faculty
# (evaluation/faculty.py) relations with one meaning reach at least 0.60, all others at most 0.49.
MIN_SIMILARITY = 0.6


def group_relations(triples: Sequence[ExtractedTriple], class_of: Callable[[str], str]) -> list[ExtractedRelation]:
    """The relations of triples by the class of their subjects, those with most triples first. `class_of` returns the
    label of a thing's class, or ""."""
    by_name: dict[tuple[str, str], list[ExtractedTriple]] = {}
    for each in triples:
        domain = class_of(each.subject_key) if each.subject_key else ""
        by_name.setdefault((domain, fold(each.relation)), []).append(each)
    relations = [
        ExtractedRelation(domain, name, members[0].relation_key, tuple(members))
        for (domain, name), members in by_name.items()
    ]
    return sorted(relations, key=lambda each: (-len(each.triples), each.domain, each.name))


def relation_similarity(known: Sequence[ExtractedRelation], vectors: Array) -> Array:
    """The similarity of relations in meaning, (m, m) in 0..1; relations of two domains have 0.

    It is the mean of the cosine of their phrases' vectors (m, n) and of the overlap of their objects (the
    distributional hypothesis of Lin and Pantel 2001).
    """
    cosine = np.clip(vectors @ vectors.T, 0, 1)
    objects = [each.objects for each in known]
    overlap = np.array([[len(a & b) / min(len(a), len(b)) if a and b else 0.0 for b in objects] for a in objects])
    same = np.array([[a.domain == b.domain for b in known] for a in known])
    result: Array = np.where(same, (cosine + overlap) / 2, 0.0)
    np.fill_diagonal(result, 1.0)
    return result


def condense_relations(known: Sequence[ExtractedRelation], similarity: Array) -> Mapping[str, str]:
    """The relations that are condensed to another one: a property of the graph, else the most frequent relation.

    Both must be at least as similar as MIN_SIMILARITY (PolyRAG, section 3.3: anchors are the attributes of classes). A
    relation of several domains is condensed only if it has the same anchor in all of them.
    """
    into: dict[str, set[str]] = {}
    anchors: list[int] = []
    # relations with a property of the graph first, then the most frequent
    order = sorted(range(len(known)), key=lambda i: (not known[i].key, i))
    for i in order:
        near = max(anchors, key=lambda a: (similarity[i, a], -a), default=None)
        joins = near is not None and similarity[i, near] >= MIN_SIMILARITY and not known[i].key
        if joins and near is not None:
            into.setdefault(known[i].name, set()).add(known[near].name)
        else:
            anchors.append(i)
            into.setdefault(known[i].name, set()).add(known[i].name)
    return {name: next(iter(targets)) for name, targets in into.items() if len(targets) == 1 and targets != {name}}


@dataclass(frozen=True)
class Gaussian:
    """A multivariate normal distribution: `mean` (n), `factor` the lower Cholesky factor of its covariance (n, n)."""

    mean: Array
    factor: Array

    def log_density(self, points: Array) -> Array:
        """log F(X) (equation 4) of points (m, n) as (m)."""
        n = len(self.mean)
        centred = np.linalg.solve(self.factor, (np.atleast_2d(points) - self.mean).T)
        log_det = 2 * float(np.log(np.diag(self.factor)).sum())
        result: Array = -0.5 * (n * np.log(2 * np.pi) + log_det + (centred**2).sum(axis=0))
        return result


def fit_gaussian(points: Array, floor: float = 1e-6) -> Gaussian:
    """The Gaussian of points (m, n), m >= 1.

    Its covariance is shrunk towards a multiple of the identity by the share that Ledoit and Wolf (2004) derive from
    the points, since there are fewer points than dimensions; `floor` is the least variance in any direction.

    >>> fit_gaussian(np.array([[0.0], [2.0]])).log_density(np.array([[1.0]])).round(4).tolist()
    [-0.9189]
    """
    points = np.asarray(points, dtype=np.float64)
    m, n = points.shape
    mean = points.mean(axis=0)
    centred = points - mean
    sample = centred.T @ centred / m
    scale = float(np.trace(sample)) / n
    target = scale * np.eye(n)
    distance = float(((sample - target) ** 2).sum())
    spread = float(((centred**2).sum(axis=1) ** 2).sum()) / m**2 - float((sample**2).sum()) / m
    share = min(1.0, max(0.0, spread / distance)) if distance > 0 else 1.0
    covariance = (1 - share) * sample + share * target + floor * np.eye(n)
    return Gaussian(mean, np.linalg.cholesky(covariance))


def completion_priorities(log_ontology: Array, log_triples: Array) -> Array:
    """Pr(X) = D(O||K) - D(K||O) (equations 5 to 7) at each point, as sign(Pr) log(1 + |Pr|), from log densities (m).

    A density depends on the unit of the space, and with it the sign of its logarithm. The unit is chosen so that the
    lowest log density at any of the points is 1: then x - log x grows with each log density x, and Pr is positive just
    where the triples are denser than the ontology.

    >>> completion_priorities(np.array([1.0, 2.0]), np.array([2.0, 2.0])).round(4).tolist()
    [1.0826, 0.0]
    """
    unit = 1 - min(float(log_ontology.min()), float(log_triples.min()))
    o, k = log_ontology + unit, log_triples + unit
    highest = np.maximum(o, k)
    # Pr = F_K log F_O - F_O log F_K, with the greater power of e factored out
    scaled = np.exp(k - highest) * o - np.exp(o - highest) * k
    size = np.log(np.abs(scaled), out=np.full_like(scaled, -np.inf), where=scaled != 0) + highest
    result: Array = np.sign(scaled) * np.logaddexp(0, size)
    return result


MAX_ITERATIONS = 50


def k_medoids(distances: Array, k: int) -> tuple[list[int], list[int]]:
    """The indexes of k medoids, and for each item the position of its medoid among them; deterministic.

    `distances` is (m, m), k <= m. The first medoids are chosen greedily (BUILD of Kaufman and Rousseeuw 1990). Then
    each cluster gets its best medoid until nothing changes.

    >>> points = np.array([0.0, 1.0, 2.0, 10.0, 11.0])
    >>> k_medoids(abs(points[:, None] - points), 2)
    ([1, 3], [0, 0, 0, 1, 1])
    """
    medoids = [int(distances.sum(axis=1).argmin())]
    while len(medoids) < k:
        nearest = distances[:, medoids].min(axis=1)
        gain = np.maximum(0, nearest[None, :] - distances).sum(axis=1)
        gain[medoids] = -1
        medoids.append(int(gain.argmax()))
    for _ in range(MAX_ITERATIONS):
        owner = distances[:, medoids].argmin(axis=1)
        better = []
        for position, medoid in enumerate(medoids):
            members = np.flatnonzero(owner == position)
            inside = distances[np.ix_(members, members)].sum(axis=1) if len(members) else np.zeros(0)
            better.append(int(members[inside.argmin()]) if len(members) else medoid)
        if better == medoids:
            break
        medoids = better
    order = np.argsort(medoids)
    owner = distances[:, [medoids[i] for i in order]].argmin(axis=1)
    return [medoids[i] for i in order], [int(each) for each in owner]


def cluster_within(distances: Array, radius: float) -> tuple[list[int], list[int]]:
    """The k-medoids for the smallest k with every item within `radius` of its medoid.

    >>> points = np.array([0.0, 1.0, 2.0, 10.0, 11.0])
    >>> cluster_within(abs(points[:, None] - points), 1.0)[0]
    [1, 3]
    """
    for k in range(1, len(distances) + 1):
        medoids, owner = k_medoids(distances, k)
        if all(distances[i, medoids[position]] <= radius for i, position in enumerate(owner)):
            break
    return medoids, owner
