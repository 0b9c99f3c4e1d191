"""Which end of a link between things of one kind is asked for: Question + Candidates -> those that are not turned."""

from collections.abc import Sequence

from nacre.language.base import language
from nacre.language.forms.nouns import wording_entry
from nacre.language.thesaurus import concept_phrases, nouns_of_kind
from nacre.language.tokens import lemma, split_name
from nacre.records.plan import Ask, Select
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.question.types import Link, Question
from nacre.wording.labels.predicate_labels import predicate_label

# letters that a verb and the noun for who does it have in common at least
STEM = 4


def drop_reversed_links(candidates: Sequence[Candidate], question: Question, graph: SchemaGraph) -> list[Candidate]:
    """The readings without those in which somebody does what the question says is done to them, and without those that
    find "who" by another way than the link between persons that the question names, where some follow it."""
    kept = [c for c in candidates if not _is_turned(c, question, graph)]
    if not any(_follows(c, graph) for c in kept):
        return kept
    return [c for c in kept if "who" not in c.derivation.trace or _follows(c, graph)]


def _follows(candidate: Candidate, graph: SchemaGraph) -> bool:
    """Whether a link between things of one kind that the question names is one of the plan's."""
    named = {r.via for x in candidate.derivation.links if x.kind == "property" for r in x.refs if r.via}
    body = candidate.body
    return isinstance(body, Select) and any(
        e.predicate in named and _joins_alike(graph, e.predicate) for e in body.edges
    )


def _is_turned(candidate: Candidate, question: Question, graph: SchemaGraph) -> bool:
    body = candidate.body.select if isinstance(candidate.body, Ask) else candidate.body
    if not isinstance(body, Select):
        return False
    links = candidate.derivation.links
    verbs = [x for x in links if x.kind == "property" and any(ref.via for ref in x.refs)]
    names = [x for x in links if x.kind == "entity" and len(x.keys) == 1]
    if len(verbs) != 1 or len(names) != 1:
        return False
    via = {ref.via for ref in verbs[0].refs if ref.via}
    edges = [e for e in body.edges if e.predicate in via]
    ends = [v.name for v in body.variables if v.keys == names[0].keys]
    if len(edges) != 1 or len(ends) != 1 or ends[0] not in (edges[0].subject, edges[0].object):
        return False
    if _is_role_of(names[0], verbs[0], question):
        # "Ann's boss", "the head of the team": nobody whose boss Ann is
        label = predicate_label(edges[0].predicate, graph.schema)
        leads = label.kind in ("verb", "past") and graph.words[edges[0].predicate] not in concept_phrases()
        return ends[0] == (edges[0].subject if leads else edges[0].object)
    if not _joins_alike(graph, edges[0].predicate):
        return False
    place = _beside_preposition(edges[0].predicate, names[0], verbs[0], question, graph)
    if place:
        return (edges[0].subject if place == "subject" else edges[0].object) != ends[0]
    doer = _doer(edges[0].predicate, verbs[0], question, graph)
    acts = _acts(names[0], verbs[0], question)
    if doer == "" or acts is None:
        return False
    is_doer = (edges[0].subject if doer == "subject" else edges[0].object) == ends[0]
    return is_doer != acts


def _is_role_of(name: Link, verb: Link, question: Question) -> bool:
    """Whether the word for a link says what somebody is to who is named: "Ann's boss", "the mentor of Ann"."""
    words = question.tokens
    if verb.end != verb.start + 1 or not {words[verb.start].norm, words[verb.start].lemma} & nouns_of_kind("persons"):
        return False
    if name.end == verb.start:
        return question.text[words[name.end - 1].end : words[verb.start].start].startswith(("'", "’"))
    before = [t.norm for t in words[verb.end : name.start]]
    return before[:1] == ["of"] and set(before[1:]) <= language().words["article"]


def _joins_alike(graph: SchemaGraph, predicate: str) -> bool:
    """Whether things of one kind stand at both ends of a link."""
    ends = graph.ends.get(predicate, ())
    return bool({a for a, _ in ends} & {b for _, b in ends})


def _beside_preposition(predicate: str, name: Link, verb: Link, question: Question, graph: SchemaGraph) -> str:
    """The end of a link such as "was derived from" at which the question puts what it names: "object" in "what is
    derived from the chart", "subject" in "what was the chart derived from", "" where its words do not tell."""
    label = split_name(graph.about(predicate).label).split()
    norms = [t.norm for t in question.tokens]
    if norms[verb.end : verb.end + 1] == ["than"] and label[-1:] != ["than"] and name.start > verb.end:
        # what is "narrower than wool" are the narrower concepts of wool
        return "subject"
    if len(label) < 2 or label[-1] == "by" or label[-1] not in wording_entry("prepositions"):
        return ""
    after = [i for i in range(verb.start, len(norms)) if norms[i] == label[-1]]
    if not after:
        return ""
    if name.start > after[0]:
        return "object" if all(i in question.stopwords for i in range(after[0] + 1, name.start)) else ""
    return "subject" if name.start < verb.start and after[0] == len(norms) - 1 else ""


def _doer(predicate: str, verb: Link, question: Question, graph: SchemaGraph) -> str:
    """The end of a link at which stands who does what its name says: "subject" of "knows", "object" of "supervised by"
    and of "supervisor"; "" where the name says something else."""
    words = split_name(graph.about(predicate).label).split()
    label = predicate_label(predicate, graph.schema)
    if not words:
        return ""
    if words[-1] == "by":
        return "object"
    third = len(words) == 1 and words[0].endswith("s") and lemma(words[0]) != words[0]
    if label.kind == "verb" or (third and question.tokens[verb.start].lemma == lemma(words[0])):
        return "subject"
    said = question.tokens[verb.start].norm
    agent = words[-1].endswith(tuple(wording_entry("agents"))) and not said.endswith(tuple(wording_entry("agents")))
    return "object" if agent and said[:STEM] == words[-1][:STEM] else ""


def _acts(name: Link, verb: Link, question: Question) -> bool | None:
    """Whether who is named does what the verb says; None where the words do not tell."""
    norms = [t.norm for t in question.tokens]
    known = language().words
    said = norms[verb.start]
    between = range(min(name.end, verb.end), max(name.start, verb.start))
    if any(i not in question.stopwords for i in between):
        return None
    if said.endswith(tuple(wording_entry("agents"))) or norms[verb.end : verb.end + 1] == ["of"]:
        # "the supervisor of Ann"
        return None
    being = [i for i, norm in enumerate(norms[: verb.start]) if norm in known["being"] | known["been"]]
    passive = bool(being) and not said.endswith("ing")
    by = [i for i, norm in enumerate(norms) if norm == "by"]
    if passive and not by:
        return None
    if not passive and by and name.start > verb.start:
        # "people supervised by Ann"
        return by[0] < name.start
    if passive:
        return by[0] < name.start and by[0] >= verb.start
    return name.start < verb.start
