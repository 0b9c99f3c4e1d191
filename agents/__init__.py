"""Minds: one file an agent: its contract, its rules version, its model version."""
