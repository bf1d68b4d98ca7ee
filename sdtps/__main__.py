"""`python -m sdtps`."""

import sys


def main() -> int:
    """Run a command; Ctrl-C during the first imports is one sentence, too."""
    try:
        from sdtps.cli.main import main as run

        return run()
    except KeyboardInterrupt:
        print("sdtps: stopped.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    raise SystemExit(main())
