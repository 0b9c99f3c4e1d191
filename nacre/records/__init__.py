"""The frozen nouns that travel between the rooms, and their JSON forms; imports nothing of ours."""
