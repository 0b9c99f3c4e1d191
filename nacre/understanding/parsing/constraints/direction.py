"""Which end of a link a named thing stands at: Candidates + Question -> those with the right end."""

from nacre.language.base import language
from nacre.language.forms.nouns import wording_entry
from nacre.language.thesaurus import concept_phrases, nouns_of_kind
from nacre.language.tokens import lemma, split_name
from nacre.records.plan import Select
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.candidate import Candidate
from nacre.understanding.parsing.state import ParseContext
from nacre.understanding.question.types import Link, Question
from nacre.wording.labels.predicate_labels import predicate_label

# how many letters a verb and its agent noun share: "supervise", "supervisor"
SHARED_LETTERS = 4


def drop_reversed_links(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Drop the readings in which a named thing stands at the wrong end of a link between things of one class.

    Readings that find "who" by another path than such a link are dropped as well, if others follow the link.
    """
    graph = context.graph
    kept = [each for each in candidates if not _is_reversed(each, context.question, graph)]
    if not any(_follows_named_link(each, graph) for each in kept):
        return kept
    return [each for each in kept if "who" not in each.derivation.trace or _follows_named_link(each, graph)]


def _follows_named_link(candidate: Candidate, graph: SchemaGraph) -> bool:
    """Whether a plan follows a link between things of one class that the question names."""
    links = candidate.derivation.links
    named = {ref.via for link in links if link.kind == "property" for ref in link.refs if ref.via}
    body = candidate.body
    return isinstance(body, Select) and any(
        edge.predicate in named and _joins_same_class(graph, edge.predicate) for edge in body.edges
    )


def _is_reversed(candidate: Candidate, question: Question, graph: SchemaGraph) -> bool:
    """Whether the one named thing stands at the wrong end of the one link that the question names."""
    body = candidate.body
    if not isinstance(body, Select):
        return False
    links = candidate.derivation.links
    verbs = [link for link in links if link.kind == "property" and any(ref.via for ref in link.refs)]
    names = [link for link in links if link.kind == "entity" and len(link.keys) == 1]
    if len(verbs) != 1 or len(names) != 1:
        return False
    (verb,), (name,) = verbs, names
    predicates = {ref.via for ref in verb.refs if ref.via}
    edges = [edge for edge in body.edges if edge.predicate in predicates]
    variables = [variable.name for variable in body.variables if variable.keys == name.keys]
    if len(edges) != 1 or len(variables) != 1 or variables[0] not in (edges[0].subject, edges[0].object):
        return False
    wrong_end = _wrong_end(edges[0].predicate, name, verb, question, graph)
    ends = {"subject": edges[0].subject, "object": edges[0].object}
    return wrong_end != "" and ends[wrong_end] == variables[0]


def _wrong_end(predicate: str, name: Link, verb: Link, question: Question, graph: SchemaGraph) -> str:
    """The end at which the named thing cannot stand; "" if the words do not tell."""
    if _is_role_of(name, verb, question):
        # "Ann's boss", "the head of the team": nobody whose boss Ann is
        label = predicate_label(predicate, graph.schema)
        leads = label.kind in ("verb", "past") and graph.words[predicate] not in concept_phrases()
        return "subject" if leads else "object"
    if not _joins_same_class(graph, predicate):
        return ""
    end = _end_at_preposition(predicate, name, verb, question, graph)
    if end:
        return _opposite(end)
    agent_end, acts = _agent_end(predicate, verb, question, graph), _acts(name, verb, question)
    if agent_end == "" or acts is None:
        return ""
    return _opposite(agent_end) if acts else agent_end


def _opposite(end: str) -> str:
    return "object" if end == "subject" else "subject"


def _is_role_of(name: Link, verb: Link, question: Question) -> bool:
    """Whether a noun for persons names the link: "Ann's boss", "the mentor of Ann"."""
    words = question.tokens
    if verb.end != verb.start + 1 or not {words[verb.start].norm, words[verb.start].lemma} & nouns_of_kind("persons"):
        return False
    if name.end == verb.start:
        return question.text[words[name.end - 1].end : words[verb.start].start].startswith(("'", "’"))
    before = [token.norm for token in words[verb.end : name.start]]
    return before[:1] == ["of"] and set(before[1:]) <= language().words["article"]


def _joins_same_class(graph: SchemaGraph, predicate: str) -> bool:
    """Whether things of one class stand at both ends of a link."""
    ends = graph.ends.get(predicate, ())
    return bool({source for source, _ in ends} & {target for _, target in ends})


def _end_at_preposition(predicate: str, name: Link, verb: Link, question: Question, graph: SchemaGraph) -> str:
    """The end of a link such as "was derived from" at which the question puts a name; "" if its words do not tell.

    "object" in "what is derived from the chart", "subject" in "what was the chart derived from".
    """
    label = split_name(graph.about(predicate).label).split()
    norms = [token.norm for token in question.tokens]
    if norms[verb.end : verb.end + 1] == ["than"] and label[-1:] != ["than"] and name.start > verb.end:
        # the concepts "narrower than wool" are the narrower concepts of wool
        return "subject"
    if len(label) < 2 or label[-1] == "by" or label[-1] not in wording_entry("prepositions"):
        return ""
    at = next((i for i in range(verb.start, len(norms)) if norms[i] == label[-1]), None)
    if at is None:
        return ""
    if name.start > at:
        return "object" if all(i in question.stopwords for i in range(at + 1, name.start)) else ""
    return "subject" if name.start < verb.start and at == len(norms) - 1 else ""


def _agent_end(predicate: str, verb: Link, question: Question, graph: SchemaGraph) -> str:
    """The end of a link at which the agent of its name stands; "" if it names no action.

    "subject" for "knows", "object" for "supervised by" and for "supervisor".
    """
    words = split_name(graph.about(predicate).label).split()
    label = predicate_label(predicate, graph.schema)
    if not words:
        return ""
    if words[-1] == "by":
        return "object"
    is_third_person = len(words) == 1 and words[0].endswith("s") and lemma(words[0]) != words[0]
    says_verb = is_third_person and question.tokens[verb.start].lemma == lemma(words[0])
    if label.kind == "verb" or says_verb:
        return "subject"
    said, suffixes = question.tokens[verb.start].norm, tuple(wording_entry("agents"))
    is_agent_noun = words[-1].endswith(suffixes) and not said.endswith(suffixes)
    return "object" if is_agent_noun and said[:SHARED_LETTERS] == words[-1][:SHARED_LETTERS] else ""


def _acts(name: Link, verb: Link, question: Question) -> bool | None:
    """Whether the named thing is the agent of the verb; None if the words do not tell."""
    norms, known = [token.norm for token in question.tokens], language().words
    said = norms[verb.start]
    between = range(min(name.end, verb.end), max(name.start, verb.start))
    if any(i not in question.stopwords for i in between):
        return None
    if said.endswith(tuple(wording_entry("agents"))) or norms[verb.end : verb.end + 1] == ["of"]:
        # "the supervisor of Ann"
        return None
    has_being = any(norm in known["being"] | known["been"] for norm in norms[: verb.start])
    is_passive = has_being and not said.endswith("ing")
    by = next((i for i, norm in enumerate(norms) if norm == "by"), None)
    if is_passive:
        return None if by is None else verb.start <= by < name.start
    if by is not None and name.start > verb.start:
        # "people supervised by Ann"
        return by < name.start
    return name.start < verb.start
