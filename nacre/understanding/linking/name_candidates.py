"""Link spans of a question to things by whole names and parts of names: tokens -> NameCandidates."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple

from rapidfuzz import fuzz, process

from nacre.language.data import word_list
from nacre.language.thesaurus import function_words, gradable_adjective, synonyms
from nacre.language.tokens import Token, is_known
from nacre.language.translation import GLOSSED_LANGUAGES
from nacre.records.schema import Schema
from nacre.stores.sqlite.lexicon import Lexicon, LexiconEntry

CandidateKind = Literal["entity", "class", "predicate", "value", "flag"]


@dataclass(frozen=True)
class NameCandidate:
    """What the tokens from `start` to `end` (exclusive) may name, with a score from 0 to 1."""

    kind: CandidateKind
    start: int
    end: int
    score: float
    label: str
    exact: bool = False  # the span is the complete name
    relations: frozenset[str] = frozenset()  # the tables of the named things or of the class
    classes: tuple[str, ...] = ()  # with `without` the class in terms of the graph
    without: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    predicate: str = ""
    value: str = ""
    ends: frozenset[str] | None = field(default=None, compare=False)  # the predicates that lead to one of `keys`
    covered: frozenset[int] = field(default=frozenset(), compare=False)  # the tokens that belong to the name


MAX_FAMILY = 400  # Things that share a part of their names, at most. More are not named by it.

# Names that contain what is said: those that are compared, and those in which a misspelt word is looked for.
MAX_NAMES_COMPARED, MAX_SPELLING_NAMES = 2000, 200

MAX_SKIPPED = 2  # Skipped words between two words of a name, at most.
MIN_DISTINCTIVENESS = 0.12  # How much the matched words distinguish a thing, at least.

# The matched share from which a name counts as whole, and below which one everyday word does not name a thing.
WHOLE_SHARE, EVERYDAY_SHARE = 0.97, 0.34

# Names whose share is this close to the best one are named as well. All names are, unless the best are clearly better.
SHARE_TOLERANCE, CLEAR_LEAD = 0.02, 0.25

# The score of a whole name; of a part: the base and what a full share adds; of all names with one part.
WHOLE_SCORE, PART_BASE_SCORE, PART_SHARE_SCORE, FAMILY_SCORE = 0.95, 0.35, 0.55, 0.5

# What prominent things gain at most, and what things lose that only their IRI names.
PROMINENCE_GAIN, IRI_NAME_LOSS = 0.04, 0.15

CACHED_TEXTS = 32  # Texts of recent turns whose names are cached. One turn looks up the same words several times.

# Words of names with how well they fit.
WordMatches = Mapping[str, float]


class _Run(NamedTuple):
    """A span whose words all belong to one name: the names, how well the words match, and the matches by token."""

    start: int
    end: int
    names: Sequence[LexiconEntry]
    quality: float
    matched: Mapping[int, WordMatches]


class _Coverage(NamedTuple):
    """How much of the names of one table's things a span contains: the share by thing."""

    relation: str
    shares: Mapping[str, float]
    top_weight: float


class EntityNames:
    """The names of all things, looked up by words, lemmas and parts of codes. `common_words` are in so many names that
    they name nothing, `stopwords` these and the function words."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.schema: Schema = lexicon.schema
        self.words = NameWords(lexicon)
        self.common_words = self.words.common
        self.stopwords = function_words() | self.common_words
        self._classes = {c.relation: ((c.iri,), ()) for c in lexicon.schema.classes} | {
            group.relation: (group.classes, group.without) for group in lexicon.schema.groups
        }
        self._cached = lru_cache(CACHED_TEXTS)(lambda tokens: tuple(self._candidates(tokens)))

    def candidates(self, tokens: Sequence[Token]) -> tuple[NameCandidate, ...]:
        """The things that spans of a text may name, in order."""
        return self._cached(tuple(tokens))

    def _candidates(self, tokens: Sequence[Token]) -> Iterator[NameCandidate]:
        done = 0
        for start, token in enumerate(tokens):
            if token.norm in function_words() and not self._may_be_name(tokens, start):
                continue
            run = self._longest_run(tokens, start)
            if run is not None and run.end > done:
                yield from self._run_candidates(tokens, run)
                done = run.end

    def _may_be_name(self, tokens: Sequence[Token], at: int) -> bool:
        """Whether a function word may begin a name: "written in go", "SO-2042"."""
        word = tokens[at]
        if at + 1 < len(tokens) and any(c.isdigit() for c in tokens[at + 1].norm):
            both = self.lexicon.find_containing(((word.norm,), (tokens[at + 1].norm,)), MAX_NAMES_COMPARED)
            if any(name.tokens[:2] == (word.norm, tokens[at + 1].norm) for name in both):
                return True
        is_last = at == len(tokens) - 1 and at > 0 and tokens[at - 1].norm in word_list("linking", "before_names")
        return (is_last or (at > 0 and word.text[0].isupper())) and self.words.is_whole_name(word.norm)

    def _longest_run(self, tokens: Sequence[Token], start: int) -> _Run | None:
        """The longest span from `start` whose words all belong to one name, in any order."""
        matches: list[WordMatches] = []
        matched: dict[int, WordMatches] = {}
        position, end = start, start
        while position < len(tokens):
            token = tokens[position]
            if matches and token.norm in self.common_words:
                # A common word does not tell which name is meant.
                position += 1
                continue
            like, size = self._match(tokens, position, matches)
            if like:
                if like not in matches:
                    matches.append(like)
                matched[position] = like
                position += size
                end = position
            elif (
                matches
                and (token.norm in word_list("linking", "skipped_in_names") or token.norm in self.common_words)
                and position - end < MAX_SKIPPED
            ):
                position += 1
            else:
                break
        if not matches:
            return None
        last = max(matched)
        before = {token.norm for token in tokens[start:last]}
        if last == end - 1 and tokens[last].norm in function_words() & before:
            # The second "in" of "plug in hybrid in the range" is not part of the name.
            matched = {i: like for i, like in matched.items() if i != last}
            end = last
        qualities = [max(like.values()) for like in matched.values()]
        return _Run(start, end, self._names_with(matches), sum(qualities) / len(qualities), matched)

    def _match(self, tokens: Sequence[Token], position: int, matches: Sequence[WordMatches]) -> tuple[WordMatches, int]:
        """The words of names that a token may stand for after some matches, and how many tokens that takes."""
        token = tokens[position]
        like = self.words.match(token)
        if matches and like not in matches and not self._is_in_name([*matches, like]):
            like = self._misspelt(token, matches)
        if like or position + 1 >= len(tokens):
            return like, 1
        joined = token.norm + tokens[position + 1].norm
        if not any(c.isdigit() for c in joined):
            return {}, 1
        like = self.words.match(token._replace(norm=joined, lemma=joined))
        return (like, 2) if not matches or self._is_in_name([*matches, like]) else ({}, 2)

    def _is_in_name(self, matches: Sequence[WordMatches]) -> bool:
        return all(matches) and self.lexicon.has_containing(matches)

    def _names_with(self, matches: Sequence[WordMatches]) -> list[LexiconEntry]:
        """The names that match each word; of too many, those of the shortest lengths."""
        names = self.lexicon.find_containing(matches, MAX_NAMES_COMPARED + 1)
        if len(names) <= MAX_NAMES_COMPARED:
            return names
        return [name for name in names if len(name.tokens) < len(names[-1].tokens)]

    def _misspelt(self, token: Token, matches: Sequence[WordMatches]) -> WordMatches:
        """The word of the names matched so far that is spelt almost like a token."""
        is_short = len(token.norm) < MIN_MISSPELT_PART_LETTERS or not token.norm.isalpha()
        if token.norm in self.stopwords or is_short:
            return {}
        names = self.lexicon.find_containing(matches, MAX_SPELLING_NAMES + 1)
        if len(names) > MAX_SPELLING_NAMES:
            return {}
        words = sorted({t for name in names for t in name.tokens})
        similar = process.extract(token.norm, words, scorer=fuzz.ratio, limit=1, score_cutoff=MIN_PART_SIMILARITY)
        return {word: ratio / FULL_SIMILARITY for word, ratio, _ in similar}

    def _run_candidates(self, tokens: Sequence[Token], run: _Run) -> Iterator[NameCandidate]:
        matched_words = frozenset().union(*(set(like) for like in run.matched.values()))
        distinctiveness = sum(max(map(self.words.distinctiveness, like)) for like in run.matched.values())
        if not run.names or distinctiveness < MIN_DISTINCTIVENESS:
            return
        entries: dict[str, LexiconEntry] = {}
        for name in run.names:
            entries.setdefault(name.target, name)
        for coverage in self._coverages(run.names, entries, matched_words):
            yield from self._table_candidates(tokens, run, entries, coverage, matched_words)

    def _coverages(
        self, names: Sequence[LexiconEntry], entries: Mapping[str, LexiconEntry], matched: Collection[str]
    ) -> list[_Coverage]:
        """For each table the share of each thing's name that is matched, weighted by how distinctive the words are."""
        weight = {t: self.words.distinctiveness(t) for name in names for t in name.tokens}
        shares: dict[str, dict[str, float]] = defaultdict(dict)
        for name in names:
            whole = sum(weight[t] for t in name.tokens)
            share = sum(weight[t] for t in name.tokens if t in matched) / whole if whole else 0.0
            if share > shares[name.relation].get(name.target, 0.0):
                shares[name.relation][name.target] = share
        top_weight = max(1.0, max(entries[t].weight for found in shares.values() for t in found) + 1)
        return [_Coverage(relation, found, top_weight) for relation, found in shares.items()]

    def _table_candidates(
        self,
        tokens: Sequence[Token],
        run: _Run,
        entries: Mapping[str, LexiconEntry],
        coverage: _Coverage,
        matched_words: Collection[str],
    ) -> Iterator[NameCandidate]:
        """The things of one table with the best-matched names, and all of its things with the matched part."""
        shares, best = coverage.shares, max(coverage.shares.values())
        keys = _best_keys(shares)
        is_written_as_name = run.start > 0 and tokens[run.start].text[:1].isupper()
        starts_each = (len(keys) > 1 or is_written_as_name) and all(
            entries[key].tokens[0] in matched_words for key in keys
        )
        first = tokens[run.start]
        is_name = best >= EVERYDAY_SHARE or starts_each or len(run.matched) > 1 or not first.norm.isalpha()
        # dictionaries of other languages take long to read
        codes = GLOSSED_LANGUAGES if first.text.islower() else ()
        if not is_name and (is_dictionary_word(first) or any(is_known(first.text, lang=code) for code in codes)):
            # An everyday word inside a long name does not name the thing.
            return
        exact = best >= WHOLE_SHARE
        text = " ".join(t.text for t in tokens[run.start : run.end])
        weight, top = max(entries[k].weight for k in keys), coverage.top_weight
        # what the number of a thing's links adds to its score
        links = math.log(1 + max(0.0, weight)) / math.log(1 + top) if top > 1 else 0.0
        prominence = PROMINENCE_GAIN * links if weight >= 0 else -IRI_NAME_LOSS
        score = WHOLE_SCORE if exact else PART_BASE_SCORE + PART_SHARE_SCORE * best
        if len(keys) <= MAX_FAMILY:
            label = entries[keys[0]].label if len(keys) == 1 else text
            yield self._candidate(run, coverage.relation, keys, entries, label, run.quality * score + prominence, exact)
        if len(keys) < len(shares) <= MAX_FAMILY:
            every = tuple(sorted(shares))
            yield self._candidate(run, coverage.relation, every, entries, text, run.quality * FAMILY_SCORE, False)

    def _candidate(
        self,
        run: _Run,
        relation: str,
        keys: tuple[str, ...],
        entries: Mapping[str, LexiconEntry],
        label: str,
        score: float,
        exact: bool,
    ) -> NameCandidate:
        classes, without = self._classes[relation]
        return NameCandidate(
            "entity",
            run.start,
            run.end,
            score,
            label,
            exact,
            frozenset((relation,)),
            classes,
            without,
            keys,
            ends=self.lexicon.leading_to([entries[key] for key in keys]),
            covered=frozenset(run.matched) | frozenset(range(run.start, run.end)),
        )


def _best_keys(shares: Mapping[str, float]) -> tuple[str, ...]:
    """The things whose names match best: all that have the part, unless one name is little more than it."""
    best = max(shares.values())
    near = [t for t, share in shares.items() if share >= best - SHARE_TOLERANCE]
    if best < WHOLE_SHARE and len(near) < len(shares) and sorted(shares.values())[-len(near) - 1] > best - CLEAR_LEAD:
        return tuple(sorted(shares))
    return tuple(sorted(near))


COMMON_SHARE, FEW_NAMES = 5, 20  # A word in more than one name of so many is common, if there are some names.
MIN_WORD_DISTINCTIVENESS = 0.02  # How distinctive a word is at least.

# How well a word fits by another form, a form that the dictionary lacks, a part of a code, and a synonym.
INFLECTED_FIT, UNLISTED_FORM_FIT, CODE_FIT, SYNONYM_FIT = 0.97, 0.95, 0.9, 0.85

# Letters of a misspelt word: in any name, and in a name of which other words are matched, at least.
MIN_SPELLING_LETTERS, MIN_MISSPELT_PART_LETTERS = 4, 5

# The similarity of the right word (rapidfuzz ratio) in the same two cases; how close others come to the best one; and
# the similarity that would fit fully.
MIN_NAME_SIMILARITY, MIN_PART_SIMILARITY, SIMILARITY_TOLERANCE, FULL_SIMILARITY = 79, 82, 4, 110

MAX_SIMILAR_WORDS = 4


class NameWords:
    """Looks up the words of the names of things. `common` words are in so many names that they name nothing."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        # "Ltd" in a list of companies.
        self.common = (
            lexicon.frequent(lexicon.thing_name_count / COMMON_SHARE)
            if lexicon.thing_name_count >= FEW_NAMES
            else frozenset()
        )

    def contains(self, word: str) -> bool:
        """Whether the name of a thing contains a word."""
        known = self.lexicon.word(word)
        return known is not None and known.things > 0

    def is_whole_name(self, word: str) -> bool:
        """Whether a word is the whole name of a thing."""
        known = self.lexicon.word(word)
        return known is not None and known.alone

    def distinctiveness(self, word: str) -> float:
        """How well a word distinguishes things, from 0 to 1 (inverse document frequency)."""
        known = self.lexicon.word(word)
        if known is None or word in self.common:
            return MIN_WORD_DISTINCTIVENESS
        names = self.lexicon.thing_name_count + 2
        return max(MIN_WORD_DISTINCTIVENESS, math.log(names / (known.things + 1)) / math.log(names))

    def similar(self, word: str) -> list[str]:
        """The words of names that are spelt almost like a word."""
        return [near for near in self.lexicon.near(word) if self.contains(near)]

    def match(self, token: Token) -> WordMatches:
        """The words of names that a token may stand for: itself, or else the first kind of match with any result."""
        norm = token.norm
        adjective = gradable_adjective(token)
        is_verb_form = norm != token.lemma and norm.endswith(("ed", "ing"))
        if (adjective is not None and adjective.degree != "positive") or is_verb_form:
            # A verb form names nothing by its stem.
            return {norm: 1.0} if self.contains(norm) else {}
        inflected = self.lexicon.of_lemma(token.lemma)
        if self.contains(norm):
            return {norm: 1.0} | {t: INFLECTED_FIT for t in inflected if t != norm}
        if inflected or self.contains(token.lemma):
            return dict.fromkeys(inflected or [token.lemma], INFLECTED_FIT)
        codes = self.lexicon.of_part(norm) or self.lexicon.of_part(token.lemma)
        if codes:
            return dict.fromkeys(codes, CODE_FIT)
        return self._unlisted_forms(norm) or self._synonyms(token.lemma) or self._spellings(token)

    def _unlisted_forms(self, norm: str) -> WordMatches:
        """The singular of a plural and the adjective of an adverb that the dictionary lacks."""
        if norm.endswith("s") and len(norm) > 4 and self.contains(norm[:-1]):
            return {norm[:-1]: UNLISTED_FORM_FIT}
        forms = (norm[:-2], norm[:-1]) if norm.endswith("ly") else ()
        form = next((form for form in forms if self.contains(form)), None)
        return {} if form is None else {form: UNLISTED_FORM_FIT}

    def _synonyms(self, lemma: str) -> WordMatches:
        """Synonyms that are the whole name of a thing."""
        words = (t for word in synonyms(lemma) if word != lemma for t in self.lexicon.of_lemma(word))
        return {t: SYNONYM_FIT for t in words if self.is_whole_name(t)}

    def _spellings(self, token: Token) -> WordMatches:
        """The most similar words of names, for a word that is not English."""
        norm = token.norm
        if len(norm) < MIN_SPELLING_LETTERS or not norm.isalpha() or is_dictionary_word(token):
            return {}
        words = [t for t in self.similar(norm) if len(t) >= MIN_SPELLING_LETTERS and not any(c.isdigit() for c in t)]
        similar = process.extract(
            norm, words, scorer=fuzz.ratio, limit=MAX_SIMILAR_WORDS, score_cutoff=MIN_NAME_SIMILARITY
        )
        best = similar[0][1] if similar else 0
        return {t: ratio / FULL_SIMILARITY for t, ratio, _ in similar if ratio >= best - SIMILARITY_TOLERANCE}


def is_dictionary_word(token: Token) -> bool:
    """Whether a word is in an English dictionary."""
    return bool(is_known(token.norm, lang="en"))
