"""Which end of a link a named thing stands at: Candidates + Question -> those with the right end.

The label of a link says which of its ends acts: the subject of "feeds", "taught" or "deputy of", the object of "fed by"
or "mentor". The words of the question say whether a named thing acts.
"""

from nacre.language.base import language, word_list
from nacre.language.forms.nouns import is_participle
from nacre.language.thesaurus import converse_roles, function_words
from nacre.language.tokens import lemma
from nacre.records.plan import Edge, Select
from nacre.understanding.linking.graph.schema_graph import SchemaGraph
from nacre.understanding.parsing.constraints.mentioned_paths import named_predicates
from nacre.understanding.parsing.state import Candidate, ParseContext
from nacre.understanding.question.types import Link, Question
from nacre.wording.labels.predicate_labels import predicate_label


def drop_reversed_links(candidates: list[Candidate], context: ParseContext) -> list[Candidate]:
    """Drop the readings in which a named thing stands at the wrong end of a link between things of one class."""
    return [each for each in candidates if not _is_reversed(each, context.question, context.graph)]


def _is_reversed(candidate: Candidate, question: Question, graph: SchemaGraph) -> bool:
    """Whether a named thing stands at the wrong end of a link that the question names next to it."""
    body = candidate.body
    if not isinstance(body, Select):
        return False
    links = candidate.derivation.links
    named: dict[tuple[str, ...], str] = {
        variable.keys: variable.name for variable in body.variables if len(variable.keys) == 1
    }
    for verb in links:
        predicates = named_predicates(verb, graph)
        edges = [edge for edge in body.edges if edge.predicate in predicates]
        for name in (link for link in links if link.keys in named):
            ends = {end for edge in edges for end in _ends_at(named[name.keys], edge)}
            if len(ends) == 1 and ends == {_wrong_end(edges[0].predicate, name, verb, question, graph)}:
                return True
    return False


def _ends_at(variable: str, edge: Edge) -> list[str]:
    """The ends of an edge at which a variable stands."""
    return [end for end, other in (("subject", edge.subject), ("object", edge.object)) if other == variable]


def _wrong_end(predicate: str, name: Link, verb: Link, question: Question, graph: SchemaGraph) -> str:
    """The end at which the named thing cannot stand; "" if the words do not tell."""
    if not _joins_same_class(graph, predicate) or language().words["symmetric"] & set(graph.words[predicate]):
        return ""
    acts, agent_end = _acts(predicate, name, verb, question, graph), _agent_end(predicate, verb, question, graph)
    if acts is None or not agent_end:
        return ""
    return _opposite(agent_end) if acts else agent_end


def _opposite(end: str) -> str:
    return "object" if end == "subject" else "subject"


def _joins_same_class(graph: SchemaGraph, predicate: str) -> bool:
    """Whether one thing may stand at both ends of a link."""
    ends = graph.ends.get(predicate, ())
    sources, targets = (
        frozenset[str]().union(*(graph.nodes[node].relations for node in set(nodes)))
        for nodes in ((source for source, _ in ends), (target for _, target in ends))
    )
    return bool(sources & targets)


def _agent_end(predicate: str, verb: Link, question: Question, graph: SchemaGraph) -> str:
    """The end of a link at which the agent of the words that name it stands; "" if its label does not tell.

    Whoever "learns from" somebody stands at the other end of "taught".
    """
    label, words = predicate_label(predicate, graph.schema), graph.surface_words(predicate)
    says = tuple(token.lemma for token in question.tokens[verb.start : verb.end])
    is_perfect = len(words) > 1 and words[0] in language().words["owning"] and is_participle(words[1])
    is_third_person = len(words) == 1 and words[0].endswith("s") and lemma(words[0]) != words[0]
    if words[-1:] == ["by"]:
        end = "object"
    elif label.kind != "noun" or is_perfect or (is_third_person and says == (lemma(words[0]),)):
        end = "" if label.kind == "flag" else "subject"
    else:
        end = "object"
    own, other = _role(graph.words[predicate]), _role(says)
    is_converse = own is not None and other is not None and own[0] == other[0] and own != other
    if is_converse:
        return _opposite(end) if end else ""
    return end if _is_label(graph.words[predicate], verb, question) else ""


def _is_label(label: tuple[str, ...], verb: Link, question: Question) -> bool:
    """Whether words of the question are those of a label, and not of a further name of the link, whose form may say the
    opposite: "fed by" and "feeds" of "fed equipment"."""
    said = [question.tokens[i].lemma for i in range(verb.start, verb.end) if i not in question.stopwords]
    return said == [word for word in label if word not in function_words()]


def _role(words: tuple[str, ...]) -> tuple[int, int] | None:
    """The relation and the role that words name: "learn" as "learn from", "taught by" as "teach"."""
    roles = converse_roles()
    found = roles.get(words) or roles.get(words[:-1])
    return found or next((role for phrase, role in roles.items() if len(phrase) > 1 and phrase[:1] == words[:1]), None)


def _acts(predicate: str, name: Link, verb: Link, question: Question, graph: SchemaGraph) -> bool | None:
    """Whether the named thing is the agent of the verb, or what the noun names; None if the words do not tell."""
    norms, known = [token.norm for token in question.tokens], language().words
    between = range(min(name.end, verb.end), max(name.start, verb.start))
    if name.covered & verb.covered or any(i not in question.stopwords for i in between):
        return None
    follows = name.start > verb.start
    gap = question.text[question.tokens[name.end - 1].end : question.tokens[verb.start].start]
    if not follows and gap.startswith(("'", "’")):
        # "Ann's mentor"
        return False
    if set(norms[verb.end - 1 : verb.end + 1]) & known["noun_links"]:
        # "the mentor of Ann" and "who is Ann the mentor of"
        return not follows
    before = set(norms[max(0, verb.start - 1) : verb.start])
    if before & (known["whose"] if follows else known["article"]):
        # "whose mentor is Ann", "for whom is Ann the mentor"
        return True
    return _acts_in_clause(predicate, name, verb, question, graph)


def _acts_in_clause(predicate: str, name: Link, verb: Link, question: Question, graph: SchemaGraph) -> bool | None:
    """Whether the named thing is the agent of a verb, by the order of words, "by", and the voice of the verb."""
    norms, known = [token.norm for token in question.tokens], language().words
    follows, said = name.start > verb.start, norms[verb.start]
    prepositions = set(word_list("wording", "prepositions"))
    end = norms[verb.end - 1]
    last = end if end in prepositions else "".join(graph.surface_words(predicate)[-1:])
    if last != "by" and last in prepositions and last in norms[verb.start :]:
        # "what is derived from the chart", "what was the chart derived from"
        return not follows if not follows or name.start > norms.index(last, verb.start) else None
    by = next((i for i in range(verb.start, len(norms)) if norms[i] == "by"), None)
    inside = {*question.stopwords, *range(name.start, name.end)} - {
        i for i, norm in enumerate(norms) if norm in known["relative"]
    }
    being = (i for i in range(verb.start) if norms[i] in known["being"] | known["been"])
    is_passive = is_participle(said) and any(inside.issuperset(range(i + 1, verb.start)) for i in being)
    if by is None and (not is_passive or last in prepositions - {"by"}):
        # "to whom was Ann apprenticed"
        return not follows
    if follows and by is None:
        return None
    return by is not None and follows and by < name.start
