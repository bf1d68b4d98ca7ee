"""Attacks by requests: foreign pages, shapes that cost more than they weigh, addresses, questions without sense."""

import contextlib
import json
import secrets
import time

import httpx

from tests.attack.target import FUNCTIONS, MEGABYTE, Target, sentence_of
from tests.visitor import API, Visitor

EVIL = "https://evil.example"
NESTED = b"[],"
BACKSLASH = chr(92)


def foreign_origin(target: Target) -> str | None:
    """A page of another origin reads answers and the token of the session."""
    asked = {"Origin": EVIL, "Access-Control-Request-Method": "POST", "Cookie": "x=y"}
    for host in ({"Host": "192.0.2.7:7860"}, {}):  # as a server of a network, and by its loopback name
        for path in ("/config", "/", f"{API}/info", f"{API}/token"):
            answer = target.get(path, headers=asked | host)
            allowed = answer.headers.get("access-control-allow-origin")
            if allowed is not None or answer.status_code not in (403, 421):
                return f"{path}: {answer.status_code}, readable for {allowed or 'nobody'}"
        preflight = httpx.options(f"{target.url}{FUNCTIONS}", headers=asked | host)
        if "access-control-allow-origin" in preflight.headers:
            return "a preflight was allowed"
    return None


def rebinding(target: Target) -> str | None:
    """A name that an attacker owns points at the server."""
    for host in ("evil.example", "evil.example:7860", "127.0.0.1.evil.example", "localhost.evil.example"):
        answer = target.get("/config", headers={"Host": host})
        if answer.status_code != 421:
            return f"{host}: {answer.status_code}"
    return None


def simple_posts(target: Target) -> str | None:
    """Another site posts what a browser sends without asking first."""
    body = json.dumps({"data": {"task": "job.poll", "job": "x"}, "fn_name": "ask", "component_id": 1}).encode()
    for origin in (EVIL, "null", "http://localhost:1"):
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
            answer = target.post(FUNCTIONS, content=body, headers={"Origin": origin, "Content-Type": kind})
            if answer.status_code != 403:
                return f"{kind} from {origin}: {answer.status_code}"
    answer = target.post(FUNCTIONS, content=body, headers={"Content-Type": "text/plain"})
    if answer.status_code != 415:
        return f"plain text: {answer.status_code}"
    picture = target.get("/config", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"})
    return None if picture.status_code == 403 else f"as a picture of another page: {picture.status_code}"


def nested_json(target: Target) -> str | None:
    """Ten megabytes of brackets."""
    before = target.memory()
    body = b'{"data":[' + NESTED * (10 * MEGABYTE // len(NESTED)) + b"[]]}"
    for path in (f"{API}/call/analyse", f"{API}/queue/join"):
        wrong = sentence_of(target.post(path, content=body, headers={"Content-Type": "application/json"}))
        if wrong:
            return wrong
    grown = target.memory() - before
    return f"memory grew by {grown:.0f} MB" if grown > 100 else None


def costly_cookies(target: Target) -> str | None:
    """Ten requests with a cookie of 30 kB that takes seconds to read."""
    before = target.processor_seconds()
    for _ in range(10):
        target.get(f"{API}/app_id", headers={"Cookie": f'a="{BACKSLASH * 30_000}"'})
    took = target.processor_seconds() - before
    return f"took {took:.1f} seconds of the processor" if took > 2 else None


def failing_calls(target: Target, count: int = 12) -> str | None:
    """Calls of 80 MB each that fail."""
    body = b'{"data":["' + b"A" * (80 * 10**6) + b'"]}'
    for i in range(count):
        if i == 2:  # what was given back may stay with the allocator
            before = target.memory()
        target.post(f"{API}/call/analyse", content=body, headers={"Content-Type": "application/json"})
    grown = target.memory() - before
    return f"memory grew by {grown:.0f} MB" if grown > 300 else target.still_serves()


def many_parts(target: Target) -> str | None:
    """A form of 999 files, also under two boundaries of which one is counted and one is read."""
    before = target.open_files()
    files = [("file", (f"{i}.png", b"x")) for i in range(999)]
    wrong = sentence_of(target.post(FUNCTIONS, data={"fn_name": "stage"}, files=files))
    part = b"--edge\r\nContent-Disposition: form-data; name=files; filename=x\r\n\r\n\r\n"
    for kind in ("multipart/form-data; boundary=other; boundary=edge", "Multipart/Form-Data; boundary=edge"):
        two_readings = target.post(f"{API}/upload", content=part * 999 + b"--edge--", headers={"Content-Type": kind})
        wrong = wrong or sentence_of(two_readings)
    if wrong:
        return wrong
    more = target.open_files() - before
    return f"{more} more descriptors" if more > 20 else None


def forged_log(target: Target) -> str | None:
    """Newlines, escapes and 20 kB in an address."""
    mark = secrets.token_hex(6)
    line = f"{mark}%0a%7b%22event%22:%22{mark}%22%7d"
    known = (f"{API}/call/{mark}%1b[31m", f"{API}/queue/{line}", f"{API}/queue/data?session_hash={line}")
    for path in (f"/{line}", f"/{mark}" + "x" * 20_000, f"{API}/{line}", *known):
        with contextlib.suppress(httpx.HTTPError):  # whatever is answered: the log is looked at
            target.get(path)
    if target.log is None:
        return None
    return "words of an address are in the log" if mark in target.log.read_text(errors="replace") else None


def without_words(target: Target) -> str | None:
    """Wrong names of functions and fields, forms without fields, forbidden paths."""
    json_type = {"Content-Type": "application/json"}
    answers = {
        "function": target.post(f"{API}/call/nothing", json={"data": []}),
        "function by name": target.post(f"{API}/call/v2/nothing", json={}),
        "field": target.post(f"{API}/call/v2/analyse", json={"no_such_field": 1}),
        "form without fields": target.post(FUNCTIONS, files={"file": ("x.png", b"x")}),
        "empty JSON": target.post(FUNCTIONS, json={}),
        "no JSON": target.post(FUNCTIONS, content=b"{", headers=json_type),
        "deep JSON": target.post(f"{API}/queue/join", content=b"[" * 9000, headers=json_type),
        "component": target.post(FUNCTIONS, json=_call(component=10**6)),
        "server function": target.post(FUNCTIONS, json=_call(name="__init__")),
        "form without boundary": target.post(FUNCTIONS, content=b"x", headers={"Content-Type": "multipart/form-data"}),
        "path": target.get(f"{API}/file=/etc/passwd"),
        "path above": target.get(f"{API}/file=../../etc/passwd"),
        "queue": target.post(f"{API}/queue/join", json={"data": []}),
    }
    wrong = [f"{name}: {said}" for name, answer in answers.items() if (said := sentence_of(answer))]
    event = target.post(f"{API}/call/analyse", json={"data": ["x"] * 40}).json().get("event_id")
    if event is not None:
        told = target.get(f"{API}/call/analyse/{event}").text
        if "event: error" in told and "null" in told.partition("data:")[2]:
            wrong.append("an error of the queue without words")
    if "404" in target.get(f"{API}/call/analyse/nothing").text:
        wrong.append("work that nobody knows is a number")
    return "; ".join(wrong) or None


def _call(component: int = 1, name: str = "ask") -> dict[str, object]:
    return {"data": {}, "fn_name": name, "component_id": component, "session_hash": "s"}


def one_visitor_for_all(target: Target) -> str | None:
    """One visitor starts more work than there are places; another wants one figure."""
    pictures = {m: {"example": _example(target)} for m in ("rgb", "nir", "tir")}
    with Visitor(target.url) as greedy, Visitor(target.url) as polite:
        key = greedy.analyse(pictures)["key"]
        look = {"columns": ["input"]}
        taken = [greedy.ask("export.figure", key=key, look=look, format="svg") for _ in range(40)]
        if not any("error" in answer for answer in taken):
            return "40 pieces of work of one session were taken"
        mine = polite.ask("export.figure", key=key, look=look, format="svg")
        if "job" not in mine:
            return f"another visitor: {mine}"
        ahead = 0
        while "done" in (answer := polite.ask("job.poll", job=mine["job"])):
            ahead += 1
        for answer_of_greedy in taken:
            if "job" in answer_of_greedy:
                greedy.ask("job.cancel", job=answer_of_greedy["job"])
    return None if "result" in answer else f"another visitor: {answer}"


def unread_answers(target: Target) -> str | None:
    """Six hundred analyses whose answers nobody fetches; after the first half nothing grows any more."""
    pictures = {m: {"example": _example(target)} for m in ("rgb", "nir", "tir")}
    with Visitor(target.url) as visitor:
        visitor.analyse(pictures)
        _ask_without_listening(target, visitor, pictures, 300)  # which also fills the cache of open sets
        before = target.memory()
        _ask_without_listening(target, visitor, pictures, 300)
    grown = target.memory() - before
    return f"memory grew by {grown:.0f} MB" if grown > 40 else target.still_serves()


def _ask_without_listening(target: Target, visitor: Visitor, pictures: dict[str, dict[str, str]], count: int) -> None:
    event = {"id": 1, "request": {"pictures": pictures, "settings": {}}}
    body = {"data": [], "fn_index": visitor.event, "trigger_id": visitor.component, "event_data": event}
    for _ in range(count):
        while visitor.http.post(f"{API}/queue/join", json=body | {"session_hash": secrets.token_hex(6)}).is_error:
            time.sleep(0.1)  # the queue is full
    while target.get(f"{API}/queue/status").json()["queue_size"]:
        time.sleep(0.1)


def huge_figures(target: Target) -> str | None:
    """Figures of 860 megapixels, and columns without end."""
    pictures = {m: {"example": _example(target)} for m in ("rgb", "nir", "tir")}
    before = target.memory()
    with Visitor(target.url) as visitor:
        key = visitor.analyse(pictures)["key"]
        looks = {"figure.pixels": {"columns": ["input"], "width": 20.0}, "figure.repeated": {"columns": ["kept"] * 60}}
        for code, look in looks.items():
            answer = visitor.ask("export.figure", key=key, look=look, format="png", dpi=600)
            while "job" in answer:
                job = answer["job"]
                while "done" in (answer := visitor.ask("job.poll", job=job)):
                    pass
            if answer.get("error", {}).get("code") != code:
                return str(answer)[:120]
    grown = target.memory() - before
    return f"memory grew by {grown:.0f} MB" if grown > 150 else None


def _example(target: Target) -> str:
    """The name of the first example, wherever the page's description has it."""
    waiting: list[object] = [target.get("/config").json()]
    while waiting:
        found = waiting.pop()
        if isinstance(found, dict) and isinstance(found.get("examples"), list) and found["examples"]:
            return str(found["examples"][0]["name"])
        waiting += found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
    raise KeyError("examples")
