"""The names of classes and properties as terms with weighted words: Lexicon + SchemaGraph -> SchemaTerms."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Literal, NamedTuple

from rapidfuzz import fuzz, process
from rapidfuzz.distance import Prefix

from nacre.language.data import WORDS, phrase_list, word_list, word_map
from nacre.language.labels import split_compound
from nacre.language.quantities import split_magnitude
from nacre.language.thesaurus import (
    concept_phrases,
    converse_roles,
    english_data,
    function_words,
    gradable_adjective,
    is_person,
    kind_synonyms,
    synonyms,
    unit_words,
    vocabulary,
)
from nacre.language.tokens import Token, fold, is_known, lemma, split_name
from nacre.language.tokens import lemma as dictionary_form
from nacre.language.word_forms import interchangeable_words, is_plural
from nacre.stores.sqlite.lexicon import Lexicon
from nacre.understanding.linking.schema_graph import SchemaGraph
from nacre.understanding.question.records import RANKING_CUES, Link, Question, Ref, covered_mask

# How well a word of a question fits a word of a name: the word itself, another form, a synonym, a stem, a misspelling.
SAME_WORD_SCORE, LEMMA_SCORE, SYNONYM_SCORE, STEM_SCORE, SPELLING_SCORE = 1.0, 0.97, 0.72, 0.7, 0.75

# Weights of words that say less: those of the class's own name ("student name"), generic ones, function words.
OWN_CLASS_WEIGHT, GENERIC_WEIGHT, LIGHT_WEIGHT = 0.25, 0.6, 0.1

PREPOSITION_WEIGHT = 0.5  # The weight of a preposition that tells two names apart.
MAX_PHRASE_CONCEPTS = 4  # Nouns that one expression stands for, at most.


class SchemaTerm(NamedTuple):
    """One name of a class, property or link, with a weight for each word."""

    kind: str
    nodes: tuple[int, ...]  # the class, the class that has the property, or the link's source and targets
    predicate: str
    words: tuple[str, ...]
    weights: tuple[float, ...]
    score: float = 1.0  # below 1 for names that are not the graph's own


class _Name(NamedTuple):
    kind: str
    nodes: tuple[int, ...]
    predicate: str
    words: tuple[str, ...]
    score: float = 1.0


_Terms = Mapping[tuple[str, tuple[int, ...], str, tuple[str, ...]], SchemaTerm]


def schema_terms(lexicon: Lexicon, graph: SchemaGraph) -> tuple[list[SchemaTerm], frozenset[str]]:
    """The terms of the graph's names and of names derived from these, and the words of the graph's names."""
    terms = _add_names({}, _own_names(lexicon, graph), graph)
    name_words = frozenset(word for term in terms.values() for word in term.words)
    agents = [_Name("class", (node,), "", (word,)) for node, word in agent_nouns(graph) if word not in name_words]
    terms = _add_names(terms, agents, graph)
    class_names = {term.words for term in terms.values() if term.kind == "class"}
    hypernyms = [_Name("class", (i,), "", (word,), SYNONYM_SCORE) for i, word in class_hypernyms(graph, class_names)]
    terms = _add_names(terms, hypernyms, graph)
    for names in (_money_names(graph), _expression_names(graph), _converse_names(graph)):
        terms = _add_names(terms, (name for name in names if name.words[0] not in name_words), graph)
    return _weigh_prepositions(terms.values(), graph), name_words


def term_link(start: int, end: int, term: SchemaTerm, score: float, covered: int, exact: bool, how: str) -> Link:
    """The link of a span to what a term names."""
    kind: Literal["class", "property"] = "class" if term.kind == "class" else "property"
    match = f"link {how}" if term.kind == "link" else how
    return Link(start, end, kind, term_refs(term), score, covered, exact, match=match)


def term_refs(term: SchemaTerm) -> tuple[Ref, ...]:
    """What a term names."""
    if term.kind != "link":
        return (Ref(term.nodes[0], term.predicate),)
    source, *targets = term.nodes
    return (*(Ref(t, "", 0, term.predicate) for t in targets), Ref(source))


def _lemmas_of_parts(word: str, labels: frozenset[str]) -> tuple[str, ...]:
    """The lemmas of the words of a compound; another word as it is."""
    parts = split_compound(word, labels)
    return tuple(map(lemma, parts)) if len(parts) > 1 else parts


def _add_names(terms: _Terms, names: Iterable[_Name], graph: SchemaGraph) -> _Terms:
    """The terms with those of further names. Of two equal ones, the one with the higher score counts."""
    found, labels = dict(terms), graph.schema.labels
    # many classes have properties of one name
    lemmas = cache(lambda name_words: tuple(w for word in name_words for w in _lemmas_of_parts(word, labels)))
    weights = cache(_weights)
    for kind, nodes, predicate, name_words, score in names:
        words = lemmas(name_words)
        own = frozenset(graph.nodes[nodes[0]].words) if kind == "property" and nodes else frozenset[str]()
        key = kind, nodes, predicate, words
        if words and not _is_class_identifier(words, own) and (key not in found or found[key].score < score):
            found[key] = SchemaTerm(kind, nodes, predicate, words, weights(words, own.intersection(words)), score)
    return found


def _own_names(lexicon: Lexicon, graph: SchemaGraph) -> Iterator[_Name]:
    """The labels and further names that the graph gives classes, groups and predicates."""
    for node in graph.nodes:
        yield _Name("class", (node.index,), "", () if node.any_of else node.words)
    rows = {words: node for node, words in _row_nouns(lexicon, graph)}
    yield from (_Name("class", (node,), "", words) for words, node in rows.items())
    for word, unions in graph.unions.words.items():
        score = SYNONYM_SCORE if word in graph.unions.hypernyms else SAME_WORD_SCORE
        yield from (_Name("class", (union,), "", (word,), score) for union in unions if (word,) not in rows)
    by_relation = {tuple(sorted(n.relations)): n.index for n in graph.nodes}
    for name in lexicon.schema_entries:
        words = tuple(lemma(t) for t in name.tokens)
        if name.kind == "class" and name.target in graph.node_of_class:
            yield _Name("class", (graph.node_of_class[name.target],), "", words, name.weight)
        elif name.kind == "group" and (name.target,) in by_relation:
            yield _Name("class", (by_relation[(name.target,)],), "", words)
        elif name.kind == "predicate" and name.target in graph.schema.predicate_of:
            if words in graph.phrases[name.target] and function_words().issuperset(words):
                # "in" and "from the" tell nothing about what is asked.
                continue
            yield from _predicate_names(name.target, words, graph)
            if words and (whole := word_map("wording", "completed").get(words[-1])):
                # a "phone" is a phone number
                yield from _predicate_names(name.target, (*words[:-1], *map(lemma, whole.split())), graph)


def _row_nouns(lexicon: Lexicon, graph: SchemaGraph) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The nodes of sheets with what the header of their key calls a row: "Parcel no" parcels. Never another name."""
    names = {tuple(map(lemma, name.tokens)) for name in lexicon.schema_entries}
    keys = word_list("ingestion", "key_words")
    for node in (each for each in graph.base_nodes if graph.is_sheet(each.index)):
        for predicate in graph.literals[node.index]:
            *words, last = map(lemma, graph.words[predicate] or ("",))
            is_key = graph.about(predicate).role == "identifier" and last in keys and keys.isdisjoint(words)
            if is_key and words and tuple(words) not in names:
                yield node.index, tuple(words)


def _money_names(graph: SchemaGraph) -> Iterator[_Name]:
    """Amounts in a currency as "money"."""
    currencies = english_data()["currencies"]
    for predicate, holders in graph.holders.items():
        if fold(split_magnitude(graph.about(predicate).unit)[1]) in currencies:
            for word in sorted(WORDS["money"]):
                yield from (_Name("property", (holder,), predicate, (word,), SYNONYM_SCORE) for holder in holders)


def _expression_names(graph: SchemaGraph) -> Iterator[_Name]:
    """Properties called by an everyday expression, by its nouns: "made of" as "material"."""
    for predicate, words in graph.words.items():
        for concept in concept_phrases().get(words, ())[:MAX_PHRASE_CONCEPTS]:
            yield from (name._replace(score=SYNONYM_SCORE) for name in _predicate_names(predicate, (concept,), graph))


def _converse_names(graph: SchemaGraph) -> Iterator[_Name]:
    """Links between things, by the words for the other role: "learns from" for "taught"."""
    roles = converse_roles()
    for predicate, words in graph.words.items():
        role = roles.get(words) or roles.get(words[:-1])
        if role is None:
            continue
        for other in sorted(phrase for phrase, found in roles.items() if found == (role[0], 1 - role[1])):
            names = (each for each in _predicate_names(predicate, other, graph) if each.kind == "link")
            yield from (name._replace(score=SYNONYM_SCORE) for name in names)


def _predicate_names(predicate: str, words: tuple[str, ...], graph: SchemaGraph) -> Iterator[_Name]:
    """A name of a predicate for each node that has it as a property, and for each source of its links."""
    about = graph.about(predicate)
    is_label = about.role == "name" and words[-1:] == phrase_list("linking", "label_word")
    if about.role in ("type", "schema") or is_label:
        return
    for holder in graph.holders.get(predicate, ()) if about.has_literals else ():
        yield _Name("property", (holder,), predicate, words)
        yield from (_Name("property", (holder,), predicate, (word,)) for word in interchangeable_words(words))
        if words[-1:] == phrase_list("linking", "value_word") and len(words) > 1 and graph.is_numeric(predicate):
            # The "rating value" is also the rating.
            yield _Name("property", (holder,), predicate, words[:-1])
    ends: dict[int, set[int]] = defaultdict(set)
    for source, target in graph.ends.get(predicate, ()) if about.has_links else ():
        if not (graph.nodes[source].any_of or graph.nodes[target].any_of):
            ends[source].add(target)
    for source in graph.drop_contained_classes(ends):
        mixed = graph.mixed_target.get((source, predicate))
        targets = graph.drop_subclasses(ends[source]) if mixed is None else (mixed,)
        yield _Name("link", (source, *targets), predicate, words)
        others = graph.drop_contained_classes(ends[source] - {mixed})
        if mixed is not None and source in ends[source] and len(others) > 1:
            # "what contains the gear train", which contains things of other classes as well
            yield _Name("link", (source, source), predicate, words)


def _is_class_identifier(words: tuple[str, ...], own: Collection[str]) -> bool:
    """Whether a name abbreviates its class's name and adds a word for an identifier: "rent no" is not a rent."""
    first = words[0] if words else ""
    if len(first) < 2 or not any(other != first and other.startswith(first) for other in own):
        return False
    keys = function_words() | WORDS["generic"] | frozenset(word_list("wording", "keys"))
    return keys.issuperset(words[1:])


def _weigh_prepositions(terms: Collection[SchemaTerm], graph: SchemaGraph) -> list[SchemaTerm]:
    """The terms, with more weight for prepositions that tell names apart: "made in" and "made by", "from date"."""
    light, articles = function_words(), WORDS["article"]
    predicates: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for term in terms:
        if term.predicate and term.score == SAME_WORD_SCORE:
            predicates[tuple(w for w in term.words if w not in light)].add(term.predicate)

    def weigh(term: SchemaTerm) -> SchemaTerm:
        content = tuple(w for w in term.words if w not in light) if term.predicate else ()
        is_phrase = bool(content) and (term.words in graph.phrases[term.predicate] or term.words[0] in light)
        if not is_phrase or len(predicates[content]) < 2:
            return term
        is_light = (w in light and w not in articles for w in term.words)
        weights = (PREPOSITION_WEIGHT if add else w for w, add in zip(term.weights, is_light, strict=True))
        return term._replace(weights=tuple(weights))

    return [weigh(term) for term in terms]


def _weights(words: tuple[str, ...], own: Collection[str]) -> tuple[float, ...]:
    """How much each word of a name says. `own` are the words of its class's name."""
    light, generic = _light_words(), WORDS["generic"]
    # In "number of seats" the seats are what is counted.
    is_count = words[:2] == phrase_list("linking", "number_of")
    has_content = any(word not in light and word not in own for word in words)
    has_other = any(word not in own for word in words)

    def weight(word: str) -> float:
        if has_content and (word in light or (is_count and word == words[0])):
            return LIGHT_WEIGHT
        if has_other and word in own:
            return OWN_CLASS_WEIGHT
        return GENERIC_WEIGHT if word in generic and len(words) > 1 else 1.0

    return tuple(map(weight, words))


@cache
def _light_words() -> frozenset[str]:
    """Words that say little about what a name names: function words, units, and words for a total."""
    # A unit says how something is measured, and not what.
    units = unit_words() - vocabulary()
    # "the total amount of all orders" may be computed.
    return function_words() | units | frozenset(word_map("wording", "computed")["total"].split())


def agent_nouns(graph: SchemaGraph) -> list[tuple[int, str]]:
    """Nodes of persons, by nouns from an event or property: "visitor" of a visit, "member" of "member since"."""
    endings = phrase_list("linking", "agent_endings")
    by_event = {
        (step.target, node.words[-1] + ending)
        for node in graph.nodes
        if node.words
        for step in graph.steps[node.index]
        if step.forward and is_person(graph.nodes[step.target].label)
        for ending in endings
    }
    since = WORDS["bound_since"] | WORDS["from"]
    names = (
        (node.index, split_name(graph.about(predicate).label).lower().split())
        for node in graph.nodes
        if is_person(node.label)
        for predicate in graph.literals[node.index]
    )
    # "member since", "volunteer from": since when someone has a role
    by_property = {(node, words[0]) for node, words in names if since & set(words[1:2]) and is_person(words[0])}
    return sorted(noun for noun in by_event | by_property if is_known(noun[1], lang="en"))


# Letters of a word that is matched by its stem, and the share of both words that they have in common, at least.
MIN_STEM_WORD_LETTERS, MIN_STEM_SHARE = 5, 0.6

STEM_PREFIX_LETTERS = 4  # The letters that words with one stem begin with.
MIN_CODE_LETTERS = 3  # Letters of a code that is matched with the end of a longer one, at least.

# Letters of a misspelt word, its similarity with the right one (rapidfuzz ratio), and words that it may stand for.
MIN_MISSPELT_WORD_LETTERS, MIN_SPELLING_RATIO, MAX_SPELLINGS = 5, 82, 2


class WordMatcher:
    """The words of the terms. `terms_of_word` are the terms that contain a word, with its place in their name."""

    def __init__(self, terms: Sequence[SchemaTerm], name_words: Collection[str]) -> None:
        places: dict[str, list[tuple[int, int]]] = {}
        for index, term in enumerate(terms):
            for place, word in enumerate(term.words):
                places.setdefault(word, []).append((index, place))
        self.terms_of_word: Mapping[str, Sequence[tuple[int, int]]] = places
        self.vocabulary = sorted(self.terms_of_word)
        self._by_prefix: dict[str, list[str]] = defaultdict(list)
        for word in self.vocabulary:
            # Only the graph's own words: "stations" are not "stationers".
            if len(word) >= MIN_STEM_WORD_LETTERS and word in name_words:
                self._by_prefix[word[:STEM_PREFIX_LETTERS]].append(word)
        self.match = lru_cache(maxsize=4096)(self._match)

    def _match(self, norm: str, lemma: str) -> tuple[tuple[str, float], ...]:
        """The words of names that a word may stand for, by the best kind of match, each with how well it fits."""
        terms = self.terms_of_word
        found = {norm: SAME_WORD_SCORE} if norm in terms else {}
        if lemma in terms:
            found.setdefault(lemma, LEMMA_SCORE if norm != lemma else SAME_WORD_SCORE)
        adjective = gradable_adjective(Token(norm, 0, len(norm), norm, lemma))
        if adjective is not None and adjective.degree != "positive":
            # "longest" orders by a length. It does not name the length.
            return tuple(sorted(found.items()))
        same_meaning = synonyms(lemma) | (synonyms(norm) if norm != lemma else frozenset())
        # "how is it heated" asks for the heating
        gerunds = (f"{lemma}ing", f"{lemma.removesuffix('e')}ing") if norm.endswith("ed") and norm != lemma else ()
        for word in [w for w in (*same_meaning, *gerunds) if w in terms]:
            found.setdefault(word, SYNONYM_SCORE)
        if len(norm) >= MIN_CODE_LETTERS and norm[-1].isdigit() and not norm[0].isdigit():
            found |= dict.fromkeys((w for w in self.vocabulary if w.endswith(norm) and w != norm), STEM_SCORE)
        for word in self._same_stem(lemma):
            found.setdefault(word, STEM_SCORE)
        if not found and (base := dictionary_form(lemma)) in terms:
            # names have the lemma of their word, here "sail" for a class Sailing; that of "sailings" is "sailing"
            found = {base: LEMMA_SCORE}
        return tuple(sorted((found or self._spellings(norm, lemma)).items()))

    def _same_stem(self, lemma: str) -> list[str]:
        alike = self._by_prefix.get(lemma[:STEM_PREFIX_LETTERS], ()) if len(lemma) >= MIN_STEM_WORD_LETTERS else ()
        least, share = MIN_STEM_WORD_LETTERS - 1, MIN_STEM_SHARE
        return [w for w in alike if Prefix.similarity(w, lemma) >= max(least, share * max(len(w), len(lemma)))]

    def _spellings(self, norm: str, lemma: str) -> dict[str, float]:
        is_word = len(norm) >= MIN_MISSPELT_WORD_LETTERS and norm.isalpha()
        if not is_word or is_known(norm, lang="en"):
            return {}
        stems = (lemma.removesuffix(ending) for ending in phrase_list("linking", "verb_endings"))
        found: dict[str, float] = {}
        for form in {lemma, *(stem for stem in stems if len(stem) >= MIN_STEM_WORD_LETTERS)}:
            similar = process.extract(
                form, self.vocabulary, scorer=fuzz.ratio, limit=MAX_SPELLINGS, score_cutoff=MIN_SPELLING_RATIO
            )
            for word, ratio, _ in similar:
                found[word] = max(found.get(word, 0.0), SPELLING_SCORE * ratio / 100)
        return found


# The vocabulary of thesauri.
SKOS_NAMESPACE = "http://www.w3.org/2004/02/skos/core#"

# Class nodes by a word for their things that is not one of their names.
ClassSynonyms = Mapping[str, frozenset[int]]


def class_hypernyms(graph: SchemaGraph, class_names: Iterable[tuple[str, ...]]) -> Iterator[tuple[int, str]]:
    """Nodes with an English word for a wider class that is not a class name of the graph: "animals" for horses."""
    names = set(class_names)
    for node in graph.nodes:
        for word in sorted(kind_synonyms().get(node.words[-1], ())) if node.classes and node.words else ():
            if (word,) not in names and word not in graph.unions.words:
                yield node.index, word


def prefer_class_synonyms(
    links: Iterable[Link], question: Question, synonyms: ClassSynonyms, graph: SchemaGraph
) -> list[Link]:
    """The links without those that a word for a class rules out."""
    found = list(links)
    for at, token in enumerate(question.tokens):
        nodes = synonyms.get(token.lemma, frozenset()) | synonyms.get(token.norm, frozenset())
        if nodes:
            found = _prefer_classes(found, question, at, nodes, graph)
    return found


def _prefer_classes(
    links: list[Link], question: Question, at: int, nodes: frozenset[int], graph: SchemaGraph
) -> list[Link]:
    """The links without those that contradict the class meant by the word at a place."""
    token = question.tokens[at]
    meant = [x for x in links if x.kind == "class" and x.refs[0].node in nodes and _covers_only(x, at)]
    out = [x for x in links if x not in meant and _is_ruled_out(x, at, token, meant, graph)]
    # The other words of a ruled-out phrase do not name its class either.
    phrases = {(x.refs[0].node, i) for x in out if not _covers_only(x, at) for i in range(x.start, x.end)}
    out += [x for x in links if x.kind == "class" and (x.refs[0].node, x.start) in phrases]
    # "green tea" as a whole says what "green" alone would say.
    whole = [x for x in links if x.kind == "entity" and x.match == "whole" and x.start < at and x.end == at + 1]
    out += [x for x in links if x.end <= at and any(w.start <= x.start and x.keys == w.keys for w in whole)]
    left = [x for x in links if x not in out]
    before = question.tokens[max(0, at - 2) : at]
    sorts = len(before) == 2 and before[1].norm == "of" and before[0].lemma in word_list("wording", "sorting")
    if sorts and any(x.kind == "class" and x.start < at < x.end for x in left):
        # "kinds of cherries" asks for the categories of cherries.
        left = [x for x in left if x not in meant]
    return left


def _covers_only(link: Link, at: int) -> bool:
    return (link.start, link.end) == (at, at + 1)


def _is_ruled_out(link: Link, at: int, token: Token, meant: list[Link], graph: SchemaGraph) -> bool:
    """Whether a link takes a word for a class, or a phrase that ends in it, for something else.

    This holds for the "cherry" of "cherry sort" if cherries are things, for names that contain the word, and for the
    concepts below "sour cherry", which are not cherries.
    """
    best = max((x.score for x in meant), default=0.0)
    if not best:
        return False
    node = graph.nodes[link.refs[0].node]
    things = frozenset[str]().union(*(graph.nodes[x.refs[0].node].relations for x in meant))
    # A subclass of the things is what the question asks for.
    has_same_head = node.words[-1:] == (token.lemma,)
    is_only_concept = not node.relations & things and any(
        step.predicate.startswith(SKOS_NAMESPACE) for step in graph.steps[node.index]
    )
    if _covers_only(link, at) and link.kind != "class":
        return link.match == "part" and token.text.islower()
    if _covers_only(link, at):
        return link.match == "partial" and link.score < best and (is_only_concept or not has_same_head)
    return link.kind == "class" and link.end == at + 1 and has_same_head and is_only_concept


ROW_NOUN, ROW_NOUN_SCORE = "row noun", 0.5  # A noun that may only mean the things of a class: its match, its score.


def link_row_noun(links: Sequence[Link], question: Question, graph: SchemaGraph) -> list[Link]:
    """The first noun that nothing is called as the things of the main sheet, if no other word means them: "how many
    bills are unpaid", "the biggest bill", "turbine W11". "How many wheels does it have" asks for something else, as do
    units."""
    rows = graph.main_sheet
    classes = [link.refs[0].node for link in links if link.kind == "class"]
    if rows is None or rows in classes:
        return []
    # tables of a database may be new, so that only "the most ..." means its rows
    is_open = not classes and graph.is_sheet(rows)
    words, cued = question.tokens, covered_mask(question.cues)
    linked, of_sheet = covered_mask(links), set(graph.nodes[rows].words)
    whole = covered_mask(x for x in links if x.kind != "entity" or x.match != "part")
    names = {link.start for link in links if link.kind == "entity" and link.match != "part"}
    # words that may say which: "the biggest unpaid bill"
    others = covered_mask(x for x in links if x.kind == "property" and not graph.is_flag(x.refs[0].predicate))
    ranked = {cue.end for cue in question.cues if cue.kind in (*RANKING_CUES, "group")}
    ranked |= {1} if words[0].norm in WORDS["asking_which"] and ranked else set()
    for i, token in enumerate(words):
        # a word of the sheet's name may also be one of names in it
        taken = whole if token.lemma in of_sheet else linked
        is_free = not (taken | cued) >> i & 1 and i not in question.stopwords and token.text.islower()
        if not is_free or token.lemma in unit_words() or token.lemma in phrase_list("parsing", "periods"):
            continue
        before = next((k for k in range(i - 1, -1, -1) if not (linked & ~others) >> k & 1), -1)
        # an unknown word is one of another language
        is_noun = is_plural(token.norm) or (before == i - 1 and before >= 0 and not is_known(token.norm, lang="en"))
        is_many = is_noun and (before in question.stopwords or (before >= 0 and cued >> before & 1))
        after = [*(each.norm for each in words[i + 1 : i + 3]), "", ""]
        is_part = after[0] in WORDS["helping"] and after[1] not in WORDS["owner_subjects"]
        # "which bed has the most visits" names another class
        is_meant = (is_many and not is_part) or before + 1 in ranked or i + 1 in names
        if is_meant if is_open else (i in ranked and is_plural(token.norm)):
            return [Link(i, i + 1, "class", (Ref(rows),), ROW_NOUN_SCORE, 1 << i, match=ROW_NOUN)]
    return []
