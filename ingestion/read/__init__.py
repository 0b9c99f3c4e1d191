"""From files to facts: find the sources, parse them, keep their triples small, name their blank nodes."""
