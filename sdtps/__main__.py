"""`python -m sdtps` and `sdtps-lens`: Ctrl-C is one sentence during the first imports, too."""

import sys


def main() -> int:
    """Run a command."""
    try:
        from sdtps.cli.main import main as run

        return run()
    except KeyboardInterrupt:
        print("sdtps: stopped.", file=sys.stderr)
        return 130


def page() -> int:
    """Open the page."""
    try:
        from sdtps.cli.page import main as run

        run()
    except KeyboardInterrupt:
        print("Stopped before the page was ready.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
