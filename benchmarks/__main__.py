"""`python -m benchmarks [--quick]`: prints the table."""

import argparse

from benchmarks import engine, export, slider
from benchmarks.measure import HEADER, machine_facts


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer pairs")
    options = parser.parse_args()
    print(machine_facts())
    print(HEADER)
    rows = engine.run(options.quick)
    for row in rows:
        print(row.markdown(), flush=True)
    rows, seconds = export.run(options.quick)
    for row in rows:
        print(row.markdown(), flush=True)
    print("\nFigure of eight columns: " + ", ".join(f"{kind} {value:.2f} s" for kind, value in seconds.items()))
    print("\n" + slider.table(slider.run(options.quick)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
