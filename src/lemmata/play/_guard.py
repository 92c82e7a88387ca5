"""Who may speak to the server: pages that it has served itself, and nobody else."""

import hmac
from collections.abc import Mapping

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; connect-src 'self'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
"""With every answer: a page runs our scripts alone, and nobody else may embed or read it."""


class Guard:
    """Lets pass what comes from a page of this server; anything else learns nothing.

    The name that the request is for must be this machine's own (so that no other site can point
    a name of its own here), the page that it comes from must be ours, and its path must begin
    with the token.
    """

    def __init__(self, app: ASGIApp, token: str, port: int):
        self.app, self.token = app, token
        self.hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        self.origins = {f"http://{host}" for host in self.hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers: dict[str, str] = {}
        for raw, value in scope["headers"]:  # what is said twice is neither the one nor the other
            name, said = raw.decode("latin-1").lower(), value.decode("latin-1")
            headers[name] = f"{headers[name]}, {said}" if name in headers else said
        _, _, rest = scope["path"].partition("/")
        token, slash, rest = rest.partition("/")
        if not self._known(headers) or not slash or not self._right(token):
            await PlainTextResponse("no\n", 403, HEADERS)(scope, receive, send)
            return
        await self.app({**scope, "path": f"/{rest}", "raw_path": None}, receive, send)

    def _known(self, headers: Mapping[str, str]) -> bool:
        if headers.get("host") not in self.hosts:
            return False
        if headers.get("origin", next(iter(self.origins))) not in self.origins:
            return False
        return headers.get("sec-fetch-site", "none") in ("none", "same-origin")

    def _right(self, token: str) -> bool:
        return hmac.compare_digest(token.encode(), self.token.encode())
