"""Attacks on signing in, where a server asks for name and password."""

import httpx

from tests.attack.target import Target

WRONG = {"username": "ada", "password": "wrong horse"}


def forwarded_addresses(target: Target) -> str | None:
    """Thirty tries, each from another address by its own word."""
    answers = [
        httpx.post(f"{target.url}/login", data=WRONG, headers={"X-Forwarded-For": f"203.0.113.{i}"}).status_code
        for i in range(30)
    ]
    return None if 429 in answers else "30 of 30 tries were let through"


def loose_cookies(answer: httpx.Response) -> str | None:
    """What is wrong with the cookies of an answer to signing in over plain HTTP."""
    cookies = answer.headers.get_list("set-cookie")
    if len(cookies) != 1:
        return f"{len(cookies)} cookies"
    text = cookies[0].lower()
    missing = [part for part in ("samesite=lax", "httponly", "max-age=") if part not in text]
    return f"without {', '.join(missing)}" if missing else None


def left_token(target: Target, account: dict[str, str]) -> str | None:
    """Whether a token opens the page after its owner left this session."""
    with httpx.Client(base_url=target.url, timeout=30) as client:
        client.post("/login", data=account)
        token = dict(client.cookies)
        if client.get("/config").status_code != 200:
            return "signing in did not work"
        client.get("/logout?all_session=false")
    again = httpx.get(f"{target.url}/config", cookies=token, timeout=30)
    return None if again.status_code == 401 else f"the old token is answered with {again.status_code}"
