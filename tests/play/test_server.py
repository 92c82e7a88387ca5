"""The server against hostile requests: they change nothing, and learn nothing."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

import httpx
import pytest
from oracles.serving import TOKEN, Served

from lemmata.play._server import LARGEST_BODY
from lemmata.play._tabs import MOST_STREAMS, MOST_TABS

TAB = "a" * 16
TRAIN = {"kind": "train", "tab": TAB, "setting": "mechanics", "text": "a b a"}


def post(served: Served, said: Any, **how: Any) -> httpx.Response:
    body = said if isinstance(said, bytes) else json.dumps(said).encode()
    return httpx.post(f"{served.address}ask", content=body, **how)


def refused(answer: httpx.Response, status: int = 400) -> str:
    assert answer.status_code == status
    return answer.json()["refused"]


def jobs(served: Served) -> int:
    return len(served.crew.taken)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:8470"},
        {"Host": "127.0.0.1"},
        {"Host": ""},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
def test_other_sites_get_nothing(served: Served, headers: dict[str, str]) -> None:
    before = jobs(served)
    for answer in (
        post(served, TRAIN, headers=headers),
        httpx.get(served.address, headers=headers),
        httpx.get(f"{served.address}catalogue", headers=headers),
        httpx.get(f"{served.address}news?tab={TAB}", headers=headers),
    ):
        assert (answer.status_code, answer.text) == (403, "no\n")
    assert jobs(served) == before


def test_a_second_origin_does_not_hide_the_first(served: Served) -> None:
    before = jobs(served)
    mine = ("Origin", f"http://127.0.0.1:{served.port}")
    for headers in ([("Origin", "http://evil.example"), mine], [mine, ("Origin", "null")]):
        assert post(served, TRAIN, headers=headers).status_code == 403
    assert jobs(served) == before


@pytest.mark.parametrize("token", ["", "x", TOKEN[:-1], TOKEN + "t", TOKEN.upper(), "%00", "é"])
def test_nothing_without_the_token(served: Served, token: str) -> None:
    base = f"http://127.0.0.1:{served.port}"
    before = jobs(served)
    assert httpx.get(f"{base}/").status_code == 403
    assert httpx.get(f"{base}/{TOKEN}").status_code == 403  # nor without the slash
    for name in ("", "app.js", "catalogue", "news?tab=aaaaaaaa"):
        assert httpx.get(f"{base}/{token}/{name}").status_code == 403
    assert httpx.post(f"{base}/{token}/ask", json=TRAIN).status_code == 403
    assert jobs(served) == before


@pytest.mark.parametrize(
    "path",
    [
        "../_server.py",
        "..%2f_server.py",
        "%2e%2e/%2e%2e/_server.py",
        "....//_server.py",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "page/app.js",
        "app.js/..",
        "app.js%00",
        "_server.py",
        "file:///etc/passwd",
    ],
)
def test_a_path_names_nothing_but_the_files_of_the_page(served: Served, path: str) -> None:
    request = (
        f"GET /{TOKEN}/{path} HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n"
        "Connection: close\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", served.port)) as raw:
        raw.sendall(request.encode())
        answer = b"".join(iter(lambda: raw.recv(65536), b"")).decode()
    assert answer.split()[1] in ("403", "404")
    assert "root:" not in answer
    assert "def make_app" not in answer


def test_the_page_and_its_scripts_are_served(served: Served) -> None:
    page = httpx.get(served.address)
    assert page.status_code == 200
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    for name in ("app.js", "style.css", "plotly.min.js"):
        assert name in page.text
        assert httpx.get(f"{served.address}{name}").status_code == 200
    assert "http:" not in page.text.replace(served.address, "")
    assert "https:" not in page.text


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"kind": NaN}', b"[" * 100_000, b'"train"', b"7"],
    ids=lambda body: str(body[:10]),
)
def test_what_is_no_json_object_is_refused(served: Served, body: bytes) -> None:
    before = jobs(served)
    refused(post(served, body))
    assert jobs(served) == before


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "delete"},
        {"kind": 7},
        {"kind": "catalogue"},
        {"tab": "short"},
        {"tab": "../../../etc/passwd"},
        {"tab": None},
        {"setting": ["mechanics"]},
        {"text": 7},
        {"text": "a\0b"},
        {"text": "\ud800"},
        {"text": "a" * 200_001},
        {"suffix": ".py"},
        {"suffix": "/../x.txt"},
        {"options": "steps"},
        {"options": {"steps": 7}},
        {"options": {"steps": "7" * 5_000}},
        {"options": {str(i): "x" for i in range(60)}},
        {"options": {"predict": [["a"]]}},
        {"seconds": 1e9},
        {"seconds": "x"},
        {"seconds": True},
        {"label": {"a": 1}},
        {"label": "x" * 200},
        {"claim": 3},
    ],
    ids=lambda change: str(change)[:40],
)
def test_what_a_request_must_not_say(served: Served, change: dict[str, Any]) -> None:
    before = jobs(served)
    assert refused(post(served, {**TRAIN, **change}))
    assert jobs(served) == before


def test_a_huge_body_is_refused_before_it_is_read(served: Served) -> None:
    before = jobs(served)
    assert "bytes" in refused(post(served, {**TRAIN, "text": "a" * LARGEST_BODY}))

    def endless() -> Iterator[bytes]:
        for _ in range(100):
            yield b"a" * 100_000

    with suppress(httpx.WriteError):  # or the server hangs up on it
        assert "bytes" in refused(httpx.post(f"{served.address}ask", content=endless()))
    assert jobs(served) == before


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods_do_nothing(served: Served, method: str) -> None:
    before = jobs(served)
    assert httpx.request(method, f"{served.address}ask", json=TRAIN).status_code == 405
    assert httpx.get(f"{served.address}ask").status_code in (404, 405)
    assert jobs(served) == before


@contextmanager
def stream(served: Served, tab: str) -> Iterator[socket.socket]:
    with closing(socket.create_connection(("127.0.0.1", served.port))) as raw:
        raw.sendall(
            f"GET /{TOKEN}/news?tab={tab} HTTP/1.1\r\n"
            f"Host: 127.0.0.1:{served.port}\r\n\r\n".encode()
        )
        raw.settimeout(10)
        yield raw


def heard(raw: socket.socket, until: bytes, seconds: float = 10) -> bytes:
    """What comes until something is said."""
    got, ends = b"", time.monotonic() + seconds
    while until not in got and time.monotonic() < ends:
        got += raw.recv(65536)
    assert until in got
    return got


def eventually(true: Any) -> None:
    ends = time.monotonic() + 10
    while not true():
        assert time.monotonic() < ends
        time.sleep(0.01)


def test_a_stream_tells_the_latest_news_only_and_never_too_often(served: Served) -> None:
    tab = "latest-news"
    assert post(served, {**TRAIN, "tab": tab, "label": "mine"}).status_code == 200
    job = served.crew.taken[-1]
    with stream(served, tab) as raw:
        heard(raw, b'"state": "running"')
        begun = time.monotonic()
        for number in range(5_000):
            served.tell(job, "news", {"number": number})
        served.tell(job, "done", None)
        got = heard(raw, b'"state": "done"')
        took = time.monotonic() - begun
    assert got.count(b"event: train") <= 2 + 30 * took
    last = json.loads(got.rsplit(b"data: ", 1)[1].split(b"\n")[0])
    assert last == {"label": "mine", "state": "done", "reason": None, "news": {"number": 4_999}}
    with stream(served, tab) as raw:  # whoever comes later hears the same, at once
        assert b'"number": 4999' in heard(raw, b'"state": "done"')


def test_tabs_do_not_hear_each_other(served: Served) -> None:
    post(served, {**TRAIN, "tab": "first-tab"})
    job = served.crew.taken[-1]
    post(served, {**TRAIN, "tab": "second-tab", "text": "b a b"})
    with stream(served, "first-tab") as first, stream(served, "second-tab") as second:
        heard(second, b"event: train")
        served.tell(job, "news", {"secret": 1})
        heard(first, b"secret")
        second.settimeout(0.3)
        with pytest.raises(TimeoutError):
            heard(second, b"secret")


def test_a_new_training_takes_the_place_of_the_old(served: Served) -> None:
    tab = "two-in-one"
    post(served, {**TRAIN, "tab": tab})
    old = served.crew.taken[-1]
    post(served, {"kind": "hold", "tab": tab})
    eventually(lambda: getattr(old, "held", False))
    post(served, {**TRAIN, "tab": tab, "label": "new"})
    eventually(lambda: old in served.crew.halted)
    served.tell(old, "news", {"outdated": True})
    with stream(served, tab) as raw:
        assert b"outdated" not in heard(raw, b'"label": "new"')


def test_a_thousand_streams(served: Served) -> None:
    """Some are served, the others are told that there is no room; then all is as before."""
    tabs = served.crew  # the server lives on in the same process
    streams = []
    for number in range(1_000):
        raw = socket.create_connection(("127.0.0.1", served.port))
        raw.sendall(
            f"GET /{TOKEN}/news?tab=stream-{number:04} HTTP/1.1\r\n"
            f"Host: 127.0.0.1:{served.port}\r\n\r\n".encode()
        )
        streams.append(raw)
    statuses = []
    for raw in streams:
        raw.settimeout(20)
        statuses.append(raw.recv(12).split()[1])
    assert statuses.count(b"200") <= MOST_STREAMS
    assert statuses.count(b"503") >= 1_000 - MOST_STREAMS
    for raw in streams:
        raw.close()
    assert served.crew is tabs
    eventually(lambda: post(served, {**TRAIN, "tab": "after-the-storm"}).status_code == 200)

    def open_again() -> bool:
        with stream(served, "after-the-storm") as raw:
            return raw.recv(12).split()[1] == b"200"

    eventually(open_again)


def test_many_tabs_make_room_for_new_ones(served: Served) -> None:
    for number in range(2 * MOST_TABS):
        assert post(served, {**TRAIN, "tab": f"tab-number-{number}"}).status_code == 200
