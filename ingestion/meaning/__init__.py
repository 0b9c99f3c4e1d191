"""What the common vocabularies mean by their triples: Facts -> the same with what follows from them, marked as derived."""
