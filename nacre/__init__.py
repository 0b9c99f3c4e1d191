"""Nacre: talk with a knowledge graph."""
