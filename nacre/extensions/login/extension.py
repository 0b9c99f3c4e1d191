"""The declaration of login."""

from nacre.extension import Extension

EXTENSION = Extension(
    "login",
    routes="nacre.extensions.login.rights:add_login",
    serve="nacre.extensions.login.rights:close_accounts",
    services={
        "check": "nacre.extensions.login.rights:check_settings",
        "persons": "nacre.extensions.login.rights:find_persons",
        "doctor": "nacre.extensions.login.rights:examine_login",
        "end_sessions": "nacre.extensions.login.rights:end_sessions",
        "forget": "nacre.extensions.login.rights:forget_person",
    },
)
