"""Part of the semantic parser; see semantics/understand.py for the stages."""
