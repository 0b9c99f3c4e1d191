"""Groups of commands, each with a name of its own.

In reading order:

    examples `nacre examples add | import | export | list | check | approve | remove`
    keys     `nacre keys add | list | revoke`
    layer    `nacre layer check | apply | show | remove | schema`
    model    `nacre model`
    shares   `nacre shares list | revoke`
"""
