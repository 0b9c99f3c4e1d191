"""Questions that a graph answers: examples when it is new, and what may be asked next."""
