"""From texts to passages: sentences -> passages of a length that suits search."""
