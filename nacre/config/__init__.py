"""Settings, and what they stand for: chat model, embedder; called only by composition roots."""
