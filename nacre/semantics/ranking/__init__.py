"""Part of the semantic parser; see nacre/semantics/understand.py for the stages."""
