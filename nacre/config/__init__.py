"""Settings and what they configure: chat models and the embedder. Only composition roots call it.

In reading order:
    settings         environment variables and .env -> Settings
    models           Settings -> chat models, and their prices
    bounded_replies  limits of the replies of a model's server
    embedder         the local embedder
"""
