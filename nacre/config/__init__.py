"""Settings and what they configure: chat models and the embedder. Only composition roots call it.

Files in reading order:
    settings.py      environment variables and .env -> Settings
    models.py        Settings -> chat models
    bounded_replies.py  limits of the replies of a model's server
    reply_body.py    limits of the bytes and items of one reply
    prices.py        the prices of models
    embedder.py      the local embedder
    local_files.py   model files on this machine
    local_hub.py     download a recommended model
    local_engine.py  a llama.cpp server in this process
    local_model.py   a chat model over the local engine
    fair_lock.py     a lock that threads and event loops get in the order of their requests
"""
