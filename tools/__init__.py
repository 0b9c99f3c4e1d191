"""Hands: one retrieval branch a file; query in, evidence out."""
