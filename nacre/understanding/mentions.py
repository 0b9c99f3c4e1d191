"""What a text names, for the other branches: best reading + Links -> Mentions; text + Lexicon -> spans."""

from collections.abc import Sequence
from dataclasses import replace

from rapidfuzz import fuzz, process
from rapidfuzz.distance import Levenshtein

from nacre.language.thesaurus import function_words, is_common_word
from nacre.language.tokens import Token, name_tokens, tokenize
from nacre.language.translation import glosses
from nacre.records.plan import Plan, Profile
from nacre.records.schema import Schema
from nacre.records.turn import Mention, NamedThing, Reading
from nacre.stores.sqlite.lexicon import Lexicon, LexiconEntry
from nacre.understanding.linking.link_mentions import Linker
from nacre.understanding.parsing.profiles import select_of_link
from nacre.understanding.question.records import RANKING_CUES, Link, Question
from nacre.understanding.ranking.probabilities import unlinked_tokens
from nacre.understanding.ranking.rank import RankedReading

MAX_NAMED, MAX_ALTERNATIVE_MENTIONS = 12, 60  # Mentions whose alternatives are kept, and alternatives in all.

# Kinds of cues whose words are words of the language: they rank, compare or measure.
_MEASURING_CUES = RANKING_CUES | {"comparative", "degree"}

# Things that a question names, and the minimum scores of a name and of a code, each perhaps part of one (given).
MAX_NAMED_THINGS, MIN_NAME_SCORE, MIN_CODE_SCORE = 3, 0.35, 0.1

EVERYTHING = "everything about {}"  # The reading that asks for all that is known of a thing, in words.
MIN_SUGGESTION_RATIO = 80  # Minimum similarity of a known name that is suggested for an unknown word (rapidfuzz ratio).


def alternative_links(used: Sequence[Link], links: Sequence[Link]) -> list[Link]:
    """Everything that the linked spans may name, one link a thing, best first within a span."""
    spans = {(x.start, x.end) for x in used[:MAX_NAMED]}
    same_span = dict.fromkeys(x for x in (*used, *links) if (x.start, x.end) in spans)
    single = (x._replace(keys=(key,)) for x in same_span for key in x.keys[:MAX_NAMED] or ("",))
    return sorted(single, key=lambda x: (x.start, x.end, -x.score))[:MAX_ALTERNATIVE_MENTIONS]


def link_mention(link: Link, question: Question, text: str) -> Mention:
    """A link as other branches read it. `text` is the question before its spelling was corrected."""
    start, end = _written_span(question.tokens[link.start].start, question.tokens[link.end - 1].end, question, text)
    kind = "predicate" if link.kind == "property" else link.kind
    ref = link.refs[0]
    target = ref.predicate or ref.via or (link.keys[0] if len(link.keys) == 1 else "")
    return Mention(
        text[start:end],
        start,
        end,
        kind,
        str(link.value) if link.kind == "value" else target,
        link.label or text[start:end],
        round(link.score, 3),
        ref.predicate if link.kind == "value" else "",
    )


def _written_span(start: int, end: int, question: Question, text: str) -> tuple[int, int]:
    """The whole words of `text` that a span of the question stands for, which is the text with its spelling
    corrected."""
    if question.text == text:
        return start, end
    edits = Levenshtein.opcodes(question.text, text)
    first, last = (next(each for each in edits if each.src_end > at) for at in (start, end - 1))
    start = min(first.dest_start + start - first.src_start, first.dest_end)
    end = min(last.dest_start + end - last.src_start, last.dest_end)
    start = next((at for at in range(start, 0, -1) if not text[at - 1].isalnum()), 0)
    return start, next((at for at in range(end, len(text)) if not text[at].isalnum()), len(text))


def named_things(links: Sequence[Link], question: Question, text: str, linker: Linker) -> tuple[NamedThing, ...]:
    """The things that the question names: the longest names, then the likeliest; of one name the first."""
    names = [x for x in links if x.kind == "entity" and x.keys and _is_name(x, question)]
    proper = [x for x in names if not _is_common_noun(x, question)]
    # "the diesel cars" are not about the thing that is called diesel
    has_class = any(x.kind == "class" and x.exact for x in links)
    names = proper if proper or has_class else [x for x in names if x.exact]
    chosen: list[Link] = []
    for name in sorted(names, key=lambda x: (x.start - x.end, -x.score, len(x.keys))):
        if all(name.end <= other.start or other.end <= name.start for other in chosen):
            chosen.append(name)
    in_order = sorted(chosen, key=lambda x: x.start)[:MAX_NAMED_THINGS]
    return tuple(_named_thing(x, question, text, linker) for x in in_order)


def _is_name(link: Link, question: Question) -> bool:
    """Whether a link is by the thing's own name or code. "Them" may stand for several things."""
    if link.match == "scope":
        return len(link.keys) == 1
    words = {token.norm for token in question.tokens[link.start : link.end]}
    if any(any(map(str.isdigit, word)) for word in words):
        return link.score >= MIN_CODE_SCORE
    return link.score >= MIN_NAME_SCORE and (link.exact or bool(words & set(name_tokens(link.label))))


def _is_common_noun(link: Link, question: Question) -> bool:
    """Whether a name is one word that any text may have, or several that are only like the name."""
    tokens = question.tokens[link.start : link.end]
    if link.match == "scope" or (link.exact and len(tokens) > 1):
        return False
    return all(is_common_word(token, is_first=not link.start) for token in tokens)


def _named_thing(link: Link, question: Question, text: str, linker: Linker) -> NamedThing:
    key, *_ = link.keys
    thing = linker.lexicon.thing(key)
    link = link._replace(keys=(key,), label=(thing.label if thing is not None else "") or link.label)
    mention = replace(link_mention(link, question, text), target=key)
    words = EVERYTHING.format(mention.label)
    return NamedThing(mention, Reading(Plan(Profile(select_of_link(link, linker.index))), 1.0, 1.0, words, 1.0))


def absent_names(unknown: Sequence[tuple[str, str]], question: Question, lexicon: Lexicon) -> tuple[str, ...]:
    """Those of the unknown words that are no words of English, or are written as names, and that no name has."""
    tokens = {token.text: (i, token) for i, token in reversed(list(enumerate(question.tokens)))}
    found = ((word, *tokens[word]) for word, _ in unknown if word in tokens)
    return tuple(
        word
        for word, i, token in found
        if not is_common_word(token, is_first=i == 0) and token.norm not in function_words()
        if not ((known := lexicon.word(token.norm)) and known.names)
    )


def unknown_words(
    best: RankedReading | None, question: Question, links: Sequence[Link], linker: Linker, gloss: str = ""
) -> tuple[tuple[str, str], ...]:
    """Content words that neither the best reading nor any link covers, each with the most similar known name or ""."""
    unlinked = unlinked_tokens(links, question)
    idle = glosses(gloss).function_words if gloss else frozenset()
    # "oldest" is a word of the language, whether or not the graph has it.
    ranking = {i for c in question.cues if c.kind in _MEASURING_CUES for i in range(c.start, c.end)}
    found = []
    for i in best.unused if best is not None else range(len(question.tokens)):
        token = question.tokens[i]
        if i in ranking or i not in unlinked or token.norm in idle:
            continue
        similar = process.extractOne(
            token.norm, linker.entities.words.similar(token.norm), scorer=fuzz.ratio, score_cutoff=MIN_SUGGESTION_RATIO
        )
        found.append((token.text, similar[0] if similar and similar[0] != token.norm else ""))
    return tuple(found)


def name_spans(words: Sequence[str], lexicon: Lexicon) -> list[tuple[int, int]]:
    """The longest names of things, values and properties, as (first word, after the last); no bare numbers."""
    found: list[tuple[int, int]] = []
    for first in range(len(words)):
        if found and first < found[-1][1]:
            continue
        opening = lexicon.word(words[first])
        sizes = range(min(len(words) - first, opening.longest) if opening is not None else 0, 0, -1)
        names = ((n, lexicon.exact(words[first : first + n])) for n in sizes)
        size = next((n for n, named in names if any(_is_specific(name, lexicon) for name in named)), 0)
        if not all(each.isdigit() or each in function_words() for each in words[first : first + size]):
            found.append((first, first + size))
    return found


def _is_specific(name: LexiconEntry, lexicon: Lexicon) -> bool:
    """Whether a name means something in particular. Classes, and properties of all things, do not."""
    if name.kind == "predicate":
        predicate = lexicon.schema.predicate_of.get(name.target)
        return predicate is not None and predicate.role == "fact"
    return name.kind in ("entity", "value")


def reword(question: str, schema: Schema) -> str:
    """The question with what people taught their words to stand for: of several words the longest, each read once."""
    if not schema.rewordings:
        return question
    known = schema.cache.get(reword, lambda: {_lemmas(tokenize(word)): text for word, text in schema.rewordings})
    tokens, longest = tokenize(question), max(map(len, known))
    pieces, read, start = list[str](), 0, 0
    while start < len(tokens):
        ends = range(min(start + longest, len(tokens)), start, -1)
        end = next((end for end in ends if _lemmas(tokens[start:end]) in known), start)
        if end > start:
            pieces += [question[read : tokens[start].start], known[_lemmas(tokens[start:end])]]
            read = tokens[end - 1].end
        start = max(end, start + 1)
    return "".join([*pieces, question[read:]])


def _lemmas(tokens: Sequence[Token]) -> tuple[str, ...]:
    return tuple(token.lemma for token in tokens)
