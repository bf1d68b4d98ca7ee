"""The addresses that the page and the public API use; everything else is closed, and no other name enters the log."""

from starlette.types import Scope

API = "/gradio_api"
FILE = f"{API}/file="
SERVER_FUNCTIONS = f"{API}/component_server"
QUEUED = (f"{API}/queue/join", f"{API}/call/")
STREAMS = (f"{API}/heartbeat/", f"{API}/queue/data", f"{API}/call/", f"{API}/mcp")  # answers that stay open
STATIC = ("/assets/", "/static/", "/theme.css", "/favicon.ico", "/manifest.json", "/robots.txt", f"{API}/theme.css")
HEALTH = "/health"
PICTURE = "/preview.jpg"  # what others show of the page
LOGIN, LOGOUT = "/login", "/logout"
# What the page and the public API use; Gradio has more, and what nobody uses is closed.
PATHS = ("/", "/config", HEALTH, PICTURE, LOGIN, LOGOUT)
ENDPOINTS = (
    "info", "openapi.json", "app_id", "user", "token", "login_check", "queue/join", "queue/data",
    "queue/status", "cancel", "reset", "upload", "component_server", "mcp",
)  # fmt: skip
BELOW = ("heartbeat/", "call/", "file=", "mcp/")  # with more behind them
METHODS = ("GET", "HEAD", "POST", "OPTIONS")
FUNCTIONS = ("analyse", "summary", "sets", "figure", "bundle", "weights", "health")  # of the public API
OTHER = "other"


def route_path(scope: Scope) -> str:
    """The path as routes see it: without the prefix that a proxy may leave in front."""
    path, root = str(scope["path"]), str(scope.get("root_path", ""))
    return path[len(root) :] if root and path.startswith(f"{root}/") else path


def route_name(path: str) -> str:
    """A known route for the log; what a visitor puts into an address is never in it."""
    if path in PATHS:
        return path
    if path.startswith(STATIC):
        return next(prefix for prefix in STATIC if path.startswith(prefix))
    endpoint = path.removeprefix(f"{API}/")
    if endpoint == path:
        return OTHER
    if endpoint.startswith("call/"):
        function = called_function(path)
        return f"{API}/call/{function}" if function in FUNCTIONS else f"{API}/call"
    known = next((e for e in ENDPOINTS if endpoint.rstrip("/") == e), None)
    known = known or next((e.rstrip("/") for e in BELOW if endpoint.startswith(e)), None)
    return OTHER if known is None else f"{API}/{known}"


def is_open(path: str) -> bool:
    """Whether the page or the public API uses an address."""
    endpoint = path.removeprefix(f"{API}/")
    if endpoint == path:
        return path in PATHS or path.startswith(STATIC)
    return path.startswith(STATIC) or endpoint.rstrip("/") in ENDPOINTS or endpoint.startswith(BELOW)


def called_function(path: str) -> str | None:
    """Which function of the public API an address calls, by whatever name; None for other addresses."""
    if not path.startswith(f"{API}/call/"):
        return None
    return path.removeprefix(f"{API}/call/").removeprefix("v2/").split("/")[0]
