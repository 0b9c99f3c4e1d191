"""Uploads: files that people send, or an address that they name, become a graph; graphs are deleted."""
