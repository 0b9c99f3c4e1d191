"""What a question names, for the other branches: best reading + Links -> Mentions, and words that name nothing."""

from collections.abc import Sequence

from rapidfuzz import fuzz, process

from nacre.records.turn import Mention
from nacre.understanding.linking.linker import Linker
from nacre.understanding.question.types import Link, Question
from nacre.understanding.ranking.best_readings import unlinked_tokens
from nacre.understanding.ranking.rank import RankedReading

# Mentions whose alternatives are kept, and alternatives in all.
MAX_NAMED, MAX_ALTERNATIVE_MENTIONS = 12, 60
# Kinds of cues that rank or compare.
RANKING_CUES = frozenset(("superlative", "most", "comparative", "degree"))
# Minimum similarity of a known name that is suggested for an unknown word (rapidfuzz ratio).
MIN_SUGGESTION_RATIO = 80


def used_links(best: RankedReading | None, links: Sequence[Link]) -> Sequence[Link]:
    """The links of the best reading. Without a reading, the exact ones."""
    if best is not None:
        return best.candidate.derivation.links
    return [x for x in links if x.exact]


def alternative_links(used: Sequence[Link], links: Sequence[Link]) -> list[Link]:
    """Everything that the linked spans may name, one link a thing, best first within a span."""
    spans = {(x.start, x.end) for x in used[:MAX_NAMED]}
    same_span = dict.fromkeys(x for x in (*used, *links) if (x.start, x.end) in spans)
    single = (x._replace(keys=(key,)) for x in same_span for key in x.keys[:MAX_NAMED] or ("",))
    return sorted(single, key=lambda x: (x.start, x.end, -x.score))[:MAX_ALTERNATIVE_MENTIONS]


def link_mention(link: Link, question: Question, text: str) -> Mention:
    """A link as other branches read it. `text` is the question before its spelling was corrected."""
    start, end = question.tokens[link.start].start, question.tokens[link.end - 1].end
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


def unknown_words(
    best: RankedReading | None, question: Question, links: Sequence[Link], linker: Linker
) -> tuple[tuple[str, str], ...]:
    """Content words that neither the best reading nor any link covers, each with the most similar known name or ""."""
    unlinked = unlinked_tokens(links, question)
    # "oldest" is a word of the language, whether or not the graph has it.
    ranking = {i for c in question.cues if c.kind in RANKING_CUES for i in range(c.start, c.end)}
    found = []
    for i in best.unused if best is not None else range(len(question.tokens)):
        token = question.tokens[i]
        if i in ranking or i not in unlinked:
            continue
        similar = process.extractOne(
            token.norm, linker.entities.similar_words(token.norm), scorer=fuzz.ratio, score_cutoff=MIN_SUGGESTION_RATIO
        )
        found.append((token.text, similar[0] if similar and similar[0] != token.norm else ""))
    return tuple(found)
