"""Relational databases that graphs are attached to."""
