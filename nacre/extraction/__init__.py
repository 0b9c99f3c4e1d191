"""Statements out of prose, by patterns over words: sentences -> triples that know their place."""
