"""Why a call of a model failed: an error of its client -> a fixed sentence for records, and a text for the log."""

import re

import httpx

from nacre.language.sanitize import escape_controls

# characters of an error that the log gets (given)
MAX_LOGGED = 500
# what may be a key: a long word with a digit, what follows "Bearer" or "key=", and the user of an address
_SECRET = re.compile(
    r"(?<=://)[^/@\s]++@|(?<=\bbearer )\S++|(?<=key[=:])\s?[^\s&;,]++"
    r"|(?<![\w+/=.~*-])(?=[A-Za-z_+/=.~*-]*+\d)[\w+/=.~*-]{12,}",
    re.IGNORECASE,
)


def failure_reason(error: BaseException) -> str:
    """A sentence without text of the model's server, which may quote a key or a prompt.

    >>> failure_reason(httpx.ConnectError("https://ann:secret@host refused"))
    "ConnectError: the model's server can't be reached"
    """
    kind, status = type(error).__name__, getattr(error, "status_code", None)
    if isinstance(status, int):
        return f"{kind}: the model's server answered with status {status}"
    if isinstance(error, TimeoutError | httpx.TimeoutException) or "Timeout" in kind:
        return f"{kind}: the model's server did not answer in time"
    # clients have connection errors of their own: APIConnectionError of OpenAI
    if isinstance(error, ConnectionError | httpx.TransportError | OSError) or "Connect" in kind:
        return f"{kind}: the model's server can't be reached"
    return f"{kind}: the call of the model failed"


def reply_fault(error: BaseException) -> str:
    """What is wrong with a reply that is no record, for the model and the log; without the reply's text.

    >>> reply_fault(ValueError("there is no JSON object in it"))
    'ValueError: the reply is not the requested record'
    """
    return f"{type(error).__name__}: the reply is not the requested record"


def logged_error(error: BaseException) -> str:
    """The text of an error on one line, shortened, with an ellipsis for what may be a key.

    >>> logged_error(ValueError("Incorrect API key: sk-abc; or Bearer abc of abc123def456ghi"))
    'Incorrect API key:…; or Bearer … of …'
    """
    text = escape_controls(" ".join(str(error)[:MAX_LOGGED].split()))
    return _SECRET.sub("…", text)
