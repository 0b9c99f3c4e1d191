"""Verbalise documents: files -> passages, and the stored texts and mentions."""

from collections.abc import Iterator, Sequence

from ingestion.read.documents.find import DocumentFile as Given
from ingestion.read.documents.load import load_documents
from ingestion.verbalise.document_mentions import find_mentioned_things
from ingestion.verbalise.texts import MAX_SENTENCES, SeenTexts, document_title, has_too_many_sentences, text_passages
from nacre.errors import IngestionError
from nacre.records.facts import Passage
from nacre.stores.sqlite.documents import Document, DocumentMention, DocumentsWriter, SkippedDocument
from nacre.stores.sqlite.lexicon import Lexicon


def verbalise_documents(
    documents: Sequence[Given], lexicon: Lexicon, writer: DocumentsWriter, *, strict: bool = False
) -> Iterator[Passage]:
    """The passages of all readable documents that do not repeat another one; the others are recorded as skipped.

    If `strict`, raises IngestionError for the first unreadable document.
    """
    seen = SeenTexts()
    for (path, name, source), text, why in load_documents(documents, strict=strict):
        if text is not None and has_too_many_sentences(text):
            text, why = None, f"more than {MAX_SENTENCES:,} sentences"
            if strict:
                raise IngestionError(f"{path}: {why}. Leave out --strict to ingest the others.")
        if text is None:
            writer.skip(SkippedDocument(name, "unreadable", why))
            continue
        if same := seen.text(name, text):
            writer.skip(SkippedDocument(name, "repeated", f"says what {same} says"))
            continue
        told = list(text_passages(name, text, seen))
        sentences = [sentence for passage in told for sentence in passage.sentences]
        namings = [
            DocumentMention(name, sentence.start, sentence.end, thing)
            for sentence in sentences
            for thing in find_mentioned_things(sentence.text, lexicon)
        ]
        document = Document(name, document_title(name, text), source or str(path), text.text, text.pages)
        writer.add(document, dict.fromkeys(namings))
        yield from told
