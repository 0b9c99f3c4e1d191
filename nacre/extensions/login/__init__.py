"""Login: accounts of an OpenID Connect issuer, or of a proxy that people log in at, instead of keys.

In reading order:
    rights    settings -> the rights of groups, and the proxies that name persons; who logged in, and their sessions
    issuer    the issuer: its addresses and keys; code or token -> checked claims
    routes    /login, /callback and /logout; a request -> the person who sent it; what MCP clients read
"""
