"""What the common vocabularies mean: Facts -> the same with what follows from them, marked as derived."""
