"""Part of the semantic parser; see nacre/understanding/understand.py for the stages."""
