"""Calls of chat models: bounded, counted, validated."""
