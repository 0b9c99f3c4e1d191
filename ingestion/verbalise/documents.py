"""Tell documents: files -> passages, and what is kept beside them: their texts and the things that they name."""

from collections.abc import Iterator, Sequence

from ingestion.read.documents.find import Document as Given
from ingestion.read.documents.load import load
from ingestion.verbalise.document_mentions import named_things
from ingestion.verbalise.texts import Seen, text_passages, title_of
from nacre.records.facts import Passage
from nacre.stores.sqlite.documents import Document, DocumentsWriter, LeftOut, Naming
from nacre.stores.sqlite.lexicon import Lexicon


def tell_documents(
    documents: Sequence[Given], lexicon: Lexicon, writer: DocumentsWriter, *, strict: bool = False
) -> Iterator[Passage]:
    """The passages of all documents that can be read and say something new; the others are noted as left out.

    Raises IngestionError, where `strict`, for the first that can't be read.
    """
    seen = Seen()
    for (path, name), text, why in load(documents, strict=strict):
        if text is None:
            writer.leave_out(LeftOut(name, "unreadable", why))
            continue
        if same := seen.text(name, text):
            writer.leave_out(LeftOut(name, "repeated", f"says what {same} says"))
            continue
        told = list(text_passages(name, text, seen))
        sentences = [sentence for passage in told for sentence in passage.sentences]
        namings = [
            Naming(name, sentence.start, sentence.end, thing)
            for sentence in sentences
            for thing in named_things(sentence.text, lexicon)
        ]
        writer.add(Document(name, title_of(name, text), str(path), text.text, text.pages), dict.fromkeys(namings))
        yield from told
