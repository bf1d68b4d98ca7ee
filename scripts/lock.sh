#!/bin/sh
# Write requirements.lock, requirements-cpu.lock and requirements-dev.lock: every package, direct or not, with the hashes of its files.
#   lock.sh PYTHON [OPTIONS OF uv pip compile]      such as --upgrade, or --upgrade-package gradio
# One file serves Python 3.11 to 3.13 on every system. A version stays as it is unless an option says otherwise.
set -eu
python=${1:-python3}
shift || true
"$python" -c 'import uv' 2>/dev/null || "$python" -m pip install --quiet --disable-pip-version-check 'uv>=0.9'

compile() { # compile INPUT OUTPUT [OPTIONS]: no address of an index gets into the file
    input=$1 output=$2
    shift 2
    "$python" -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
        --no-emit-index-url --no-annotate --output-file "$output" "$@" "$input"
}

compile requirements-dev.txt requirements-dev.lock "$@"
compile requirements.txt requirements.lock --constraint requirements-dev.lock "$@"
# Without CUDA and torch itself, which come from an index of CPU wheels with other hashes: see the Dockerfile.
awk '/^[^ ]/ { skipped = $0 ~ /^(torch|torchvision|triton|nvidia-[a-z0-9-]+|cuda-[a-z-]+)==/ } !skipped' \
    requirements.lock >requirements-cpu.lock
