#!/bin/sh
# Known vulnerabilities of the pinned packages, by pip-audit in an environment of its own. Needs a network.
#   audit.sh PYTHON
set -eu
python=${1:-python3}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check pip-audit || {
    echo "pip-audit cannot be installed here; run this where a package index and its advisories can be reached." >&2
    exit 1
}
# What is installed is asked about as it is: nothing is resolved or downloaded again.
"$python" -m pip freeze --exclude pip >"$folder/installed.txt"
# --strict: a package that could not be looked up is a failure, not a line in a table.
"$folder/venv/bin/pip-audit" --strict --no-deps --disable-pip --requirement "$folder/installed.txt" || {
    echo "Not clean: a package has a known vulnerability, or could not be looked up because the advisories cannot be" \
        "reached from here." >&2
    exit 1
}
