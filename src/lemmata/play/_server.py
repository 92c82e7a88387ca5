"""The server: a page and its scripts, one stream of news a tab, and one way to ask."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from lemmata._errors import InputError

from ._crew import Crew, Job
from ._guard import HEADERS, Guard
from ._requests import CONTROLS, KINDS, Ask, read_ask
from ._tabs import MOST_STREAMS, CrowdedError, Tabs

LARGEST_BODY = 1_000_000

TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}


@dataclass(frozen=True)
class Beginning:
    """What a page opens with: a setting, and data if a file was given."""

    setting: str
    own: str | None = None
    text: str | None = None
    suffix: str = ".txt"


def make_app(
    beginning: Beginning, token: str, port: int, hire: Callable[[str | None], Crew] = Crew
) -> ASGIApp:
    """The server as an ASGI application; ``hire`` makes the crew that computes."""
    served = _files()
    house: dict[str, Any] = {}

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        crew = house["crew"] = hire(beginning.own)
        house["tabs"] = Tabs(crew)
        crew.ready("reading")
        crew.ready("training")
        yield
        crew.close()

    async def file(request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        if name not in served:
            return Response("there is no such file\n", 404, HEADERS)
        kind = TYPES[name.rsplit(".", 1)[-1]]
        return Response(served[name], 200, HEADERS, f"{kind}; charset=utf-8")

    async def catalogue(request: Request) -> Response:
        return await _catalogue(house["crew"], beginning)

    async def news(request: Request) -> Response:
        return _stream(house["tabs"], request)

    async def ask(request: Request) -> Response:
        try:
            return JSONResponse(_act(house["tabs"], await _body(request)), 200, HEADERS)
        except InputError as error:
            return _refusal(400, str(error))
        except CrowdedError as error:
            return _refusal(503, str(error))
        except ClientDisconnect:  # in the middle of its request: there is nobody to tell
            return _refusal(400, "this request has no end")

    routes = [
        Route("/", file),
        Route("/catalogue", catalogue),
        Route("/news", news),
        Route("/ask", ask, methods=["POST"]),
        Route("/{name:str}", file),
    ]
    return Guard(Starlette(routes=routes, lifespan=lifespan), token, port)


def _files() -> dict[str, bytes]:
    """Everything that may be fetched, by name: our scripts, and the library that draws curves."""
    own = {
        item.name: item.read_bytes()
        for item in (files("lemmata.play") / "page").iterdir()
        if item.name.rsplit(".", 1)[-1] in TYPES
    }
    plotly = files("plotly") / "package_data" / "plotly.min.js"
    return {**own, "plotly.min.js": plotly.read_bytes()}


def _refusal(status: int, reason: str) -> Response:
    return JSONResponse({"refused": reason}, status, HEADERS)


async def _body(request: Request) -> Mapping[str, Any]:
    """A JSON object of a size that is bounded."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            raise InputError(f"a request may hold {LARGEST_BODY:,} bytes")
    try:
        said = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InputError("a request is a JSON object") from error
    if not isinstance(said, dict):
        raise InputError("a request is a JSON object")
    return said


def _act(tabs: Tabs, said: Mapping[str, Any]) -> dict[str, Any]:
    """Do what a page asks; the answer comes through its stream."""
    kind = said.get("kind")
    if not isinstance(kind, str) or kind not in (*KINDS, *CONTROLS):
        raise InputError(f"kind is one of {', '.join((*KINDS, *CONTROLS))}")
    if kind in KINDS:
        ask, label = read_ask(kind, said), said.get("label")
        if not isinstance(label, int | str | None) or len(str(label)) > 100:
            raise InputError("label must be a short text or a number")
        tabs.find(said.get("tab")).submit(ask, label)
        return {"accepted": kind}
    of = said.get("of", "train")
    if not isinstance(of, str) or of not in KINDS:
        raise InputError(f"of is one of {', '.join(KINDS)}")
    tab = tabs.find(said.get("tab"))
    if kind == "halt":
        tab.halt(of)
    else:
        tab.hold(of, kind == "hold")
    return {"accepted": kind}


def _stream(tabs: Tabs, request: Request) -> Response:
    """News of one tab, as server-sent events."""
    if tabs.streams >= MOST_STREAMS:
        return _refusal(503, f"{MOST_STREAMS} pages are open already; close some")
    try:
        tab = tabs.find(request.query_params.get("tab"))
    except InputError as error:
        return _refusal(400, str(error))
    except CrowdedError as error:
        return _refusal(503, str(error))

    async def events() -> AsyncIterator[str]:
        try:
            yield "retry: 1000\nevent: hello\ndata: {}\n\n"
            async for item in tab.news():
                if item is None:
                    yield ": still here\n\n"
                else:
                    kind, said = item
                    yield f"event: {kind}\ndata: {json.dumps(said, allow_nan=False)}\n\n"
        finally:
            tab.streams -= 1

    tab.streams += 1
    return StreamingResponse(events(), 200, HEADERS, "text/event-stream")


async def _catalogue(crew: Crew, beginning: Beginning) -> Response:
    """What the page offers, and what it opens with."""
    found: asyncio.Future[tuple[str, Any]] = asyncio.get_running_loop().create_future()

    def tell(kind: str, news: Any) -> None:
        if not found.done():
            found.set_result((kind, news))

    crew.submit(Job(Ask("catalogue", beginning.setting), tell))
    kind, news = await found
    if kind != "news":
        return _refusal(500, str(news))
    text, suffix = beginning.text, beginning.suffix
    opening = None if text is None else {"text": text, "suffix": suffix}
    return JSONResponse({**news, "opening": opening}, 200, HEADERS)
