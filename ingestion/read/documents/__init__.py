"""Documents as given -> their text in blocks, each knowing its place; a format a file."""
