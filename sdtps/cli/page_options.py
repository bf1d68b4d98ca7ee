"""The options of the page, for `sdtps-lens`, `python app.py` and `sdtps serve`; most by environment, too.

Imports nothing that computes or serves, so that `--help` is there at once.
"""

import argparse
import ipaddress
import os
from collections.abc import Sequence
from pathlib import Path

from sdtps.cli.options import DEVICES, Parser, add_selector, add_sources, add_version
from sdtps.resources import EXAMPLES, GALLERY

MCP_HELP = "offer analyse and figure as tools of an MCP server, too (needs: pip install 'mcp<2')"
ON = ("1", "true", "yes", "on")
LOG_FORMATS = ("text", "json")
USES = """examples:
  sdtps-lens                                        the embedded model on http://127.0.0.1:7860
  sdtps-lens --weights DeMobest.pth --config DeMo_SDTPS.yml --data RGBNT201
  sdtps-lens --host 0.0.0.0 --port 8000 --auth accounts.txt
  SDTPS_PORT=8000 sdtps-lens                        options by environment, too
"""


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line, with the environment as default."""
    return _with_environment(build_parser().parse_args(arguments))


def build_parser() -> Parser:
    """The page's options."""
    parser = Parser(
        prog="sdtps-lens",
        description="SDTPS Lens: see which patches SDTPS keeps, and why.",
        epilog=USES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_version(parser)
    add_address(parser)
    add_sources(parser)
    add_selector(parser)
    _flag(parser, "--allow-upload-weights", "let visitors load a checkpoint from their computer")
    parser.add_argument("--device", default=_env("SDTPS_DEVICE") or "auto", help=DEVICES)
    _flag(parser, "--share", "open the page to everyone with the link, through a relay on the internet")
    parser.add_argument("--root-path", default=_env("SDTPS_ROOT_PATH"), help="path prefix behind a proxy")
    _add_folders(parser)
    _flag(parser, "--anonymous", "show no names of weights, folders and files, and no hashes, for double-blind review")
    _flag(parser, "--mcp", MCP_HELP)
    _add_visitors(parser)
    parser.add_argument(
        "--examples", type=Path, default=_env("SDTPS_EXAMPLES") or EXAMPLES, help="folder of the examples to click on"
    )
    return parser


def add_address(parser: Parser) -> None:
    """Where the page is."""
    host, port = _env("SDTPS_HOST", "GRADIO_SERVER_NAME"), _env("SDTPS_PORT", "GRADIO_SERVER_PORT")
    parser.add_argument(
        "--host", default=host or "127.0.0.1", help="address to listen on (127.0.0.1: this machine alone; 0.0.0.0: all)"
    )
    # A default in words is read like the option itself, so a wrong one is the same sentence.
    parser.add_argument("--port", type=int, default=port or 7860, help="where the page is (7860)")


def _add_folders(parser: Parser) -> None:
    """What is shown besides the weights, and where features are kept."""
    parser.add_argument("--data", action="append", default=None, help="a data set folder; repeat for several")
    parser.add_argument(
        "--gallery",
        action="append",
        default=None,
        help="a further folder for rank lists; every --data folder is one (default: the shipped gallery)",
    )
    parser.add_argument(
        "--run",
        action="append",
        default=None,
        help="a recorded training (folder, train_log.txt, event files); repeat for several (default: the shipped lab)",
    )
    parser.add_argument(
        "--cache", default=os.environ.get("SDTPS_CACHE"), help="folder for features (~/.cache/sdtps-lens)"
    )


def _add_visitors(parser: Parser) -> None:
    """Who may come in, and what is written down of it."""
    parser.add_argument(
        "--auth",
        metavar="FILE",
        default=os.environ.get("SDTPS_AUTH"),
        help="ask for name and password; lines of the file come from: python -m sdtps password NAME",
    )
    in_a_space = bool(_env("SPACE_ID"))  # shown in a frame of the site that hosts it; only its own proxy reaches it
    parser.add_argument(
        "--embed-in",
        metavar="ORIGIN",
        action="append",
        default=_listed(_env("SDTPS_EMBED_IN") or ("https://huggingface.co" if in_a_space else "")),
        type=_origin,
        help="let pages of this origin (https://example.org) show the page in a frame; repeat for several",
    )
    parser.add_argument(
        "--host-name",
        metavar="NAME",
        action="append",
        default=_listed(_env("SDTPS_HOST_NAME", "SPACE_HOST")),
        type=_host_name,
        help="a name under which browsers find this server (lens.example.org), as a proxy knows it; repeat for several",
    )
    parser.add_argument(
        "--proxy",
        metavar="ADDRESS",
        action="append",
        default=_listed(_env("SDTPS_PROXY", "FORWARDED_ALLOW_IPS") or ("*" if in_a_space else "")),
        type=_network,
        help="address of a proxy whose X-Forwarded-For says who a visitor is (default: none is believed)",
    )
    parser.add_argument(
        "--rate-limit",
        metavar="N",
        type=int,
        default=_env("SDTPS_RATE_LIMIT") or 0,
        help="requests per minute and address (default: no limit; a dragged slider makes about 20 a second)",
    )
    parser.add_argument(
        "--log-format",
        choices=LOG_FORMATS,
        default=_env("SDTPS_LOG_FORMAT") or "text",
        help="a line per request and analysis, for people (text) or for programs (json)",
    )


def _with_environment(options: argparse.Namespace) -> argparse.Namespace:
    """What takes several paths, from the environment where the command line names none."""
    options.data = options.data or _paths("SDTPS_DATA")
    options.gallery = options.gallery or _paths("SDTPS_GALLERY")
    if not (options.data or options.gallery) and GALLERY.is_dir():
        options.gallery = [str(GALLERY)]
    options.run = options.run or _paths("SDTPS_RUN")
    if not options.sources and (files := _paths("SDTPS_WEIGHTS")):
        from sdtps.checkpoints.load import WeightsSource  # brings torch, too

        options.sources = [WeightsSource(path) for path in files]
    return options


def _flag(parser: Parser, name: str, meaning: str) -> None:
    """A switch: `--share`, or SDTPS_SHARE=1."""
    variable = f"SDTPS_{name.lstrip('-').replace('-', '_').upper()}"
    parser.add_argument(name, action="store_true", default=_env(variable).lower() in ON, help=meaning)


def _env(*names: str) -> str:
    """The first of these variables that says something."""
    return next((value for name in names if (value := os.environ.get(name))), "")


def _listed(text: str) -> list[str]:
    return [part for part in text.split(",") if part]


def _paths(name: str) -> list[str]:
    return [path for path in _env(name).split(os.pathsep) if path]


def _origin(text: str) -> str:
    scheme, _, host = text.partition("://")
    if scheme not in ("http", "https") or not host or set(host) & set("/ ;,'\""):
        raise argparse.ArgumentTypeError(f"{text!r} is not an origin such as https://example.org")
    return text


def _host_name(text: str) -> str:
    if not text or set(text) & set("/:@ ,;'\"") or len(text) > 253:
        raise argparse.ArgumentTypeError(f"{text!r} is not a host name such as lens.example.org")
    return text.lower()


def _network(text: str) -> str:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not an address such as 127.0.0.1 or 10.0.0.0/8") from None
    return text
