"""Answers from sentences of texts: what is wanted, which spans may be it, and which is likeliest."""
