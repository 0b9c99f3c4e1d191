"""Pack sentences into passages of a length that suits search: sentences about one thing -> passages."""

from collections.abc import Iterator, Sequence
from hashlib import blake2b

from ingestion.verbalise.split_sentences import sentence_spans, shorten_title
from nacre.records.facts import Passage, Sentence

PASSAGE_LENGTH = 900  # characters of a passage, about the length of the embedder's input


def pack_passages(key: str, title: str, sentences: Sequence[Sentence]) -> Iterator[Passage]:
    """Pack sentences into passages of about `PASSAGE_LENGTH` characters; ids are hashes of the content. The title is
    shortened, since each passage has it."""
    title = shorten_title(title)
    if not sentences:
        return
    if sum([len(sentence[0]) + 1 for sentence in sentences]) <= PASSAGE_LENGTH:  # the usual case
        yield _passage(key, title, 0, sentences)
        return
    part: list[Sentence] = []
    size = number = 0
    for sentence in sentences:
        if part and size + len(sentence.text) > PASSAGE_LENGTH:
            yield _passage(key, title, number, part)
            part, size, number = [], 0, number + 1
        part.append(sentence)
        size += len(sentence.text) + 1
    yield _passage(key, title, number, part)


def bounded_spans(text: str) -> Iterator[tuple[int, int]]:
    """The spans of a text's sentences; sentences longer than a passage are split between words."""
    for start, end in sentence_spans(text):
        while end - start > PASSAGE_LENGTH:
            space = text.rfind(" ", start, start + PASSAGE_LENGTH)
            cut = space if space > start else start + PASSAGE_LENGTH
            yield start, cut
            start = cut + (space == cut)
        if start < end:
            yield start, end


def _passage(key: str, title: str, number: int, sentences: Sequence[Sentence]) -> Passage:
    content = "\0".join([key, str(number), title, *[sentence[0] for sentence in sentences]])
    digest = blake2b(content.encode(errors="surrogatepass"), digest_size=8).digest()
    return Passage(int.from_bytes(digest, "big") >> 1, key, title, tuple(sentences))
