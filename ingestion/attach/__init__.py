"""Learn the schema of a SPARQL endpoint by bounded queries; nothing of its content is kept."""
