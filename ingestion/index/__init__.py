"""From tables and passages to what finds them: the names of a graph, its words, its vectors."""
