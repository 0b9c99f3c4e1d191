"""Understanding without a model: question -> plan -> SQL -> words."""
