# CPU:  docker build -t sdtps-lens --build-arg TORCH_INDEX=ADDRESS .    the index of CPU wheels that pytorch.org names
# CUDA: docker build -t sdtps-lens:cuda --target cuda .                 (docker run --gpus all ...)
# Run:  docker run --read-only --tmpfs /tmp:size=2g --cap-drop ALL -p 127.0.0.1:7860:7860 sdtps-lens
# A tag can move, a digest cannot: this one is of the index of all architectures. To see or to change it:
#   docker buildx imagetools inspect python:3.11.14-slim-bookworm
#   docker build --build-arg BASE=python@sha256:... -t sdtps-lens .
ARG BASE=python:3.11.14-slim-bookworm@sha256:65a93d69fa75478d554f4ad27c85c1e69fa184956261b4301ebaf6dbb0a3543d

FROM ${BASE} AS base
RUN useradd --no-log-init --create-home --uid 1000 lens
WORKDIR /home/lens/app
# All that is ever written goes below /tmp.
ENV SDTPS_HOST=0.0.0.0 \
    SDTPS_PORT=7860 \
    SDTPS_LOG_FORMAT=json \
    SDTPS_CACHE=/tmp/sdtps-features \
    GRADIO_TEMP_DIR=/tmp/sdtps-lens \
    MPLCONFIGDIR=/tmp/matplotlib \
    XDG_CACHE_HOME=/tmp/cache \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
EXPOSE 7860
HEALTHCHECK --interval=30s --timeout=5s --start-period=90s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as u; u.urlopen('http://127.0.0.1:' + os.environ['SDTPS_PORT'] + '/health', timeout=4)"]
CMD ["python", "app.py"]
COPY requirements.txt requirements.lock requirements-cpu.lock ./

FROM base AS project
COPY app.py pyproject.toml README.md LICENSE ./
COPY sdtps sdtps
COPY assets assets
COPY checkpoints checkpoints
COPY configs configs

FROM base AS cuda
RUN pip install --no-cache-dir --no-deps --require-hashes -r requirements.lock
COPY --from=project /home/lens/app ./
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
USER 1000:1000

FROM base AS cpu
# The lock without CUDA, then torch for CPUs in the same version; such wheels are not on the usual index.
# TORCH names others, where only those are to be had: "torch==2.13.0+cpu torchvision==0.28.0+cpu".
ARG TORCH_INDEX=
ARG TORCH=
RUN pip install --no-cache-dir --no-deps --require-hashes -r requirements-cpu.lock
RUN pip install --no-cache-dir --no-deps ${TORCH_INDEX:+--index-url "${TORCH_INDEX}"} \
    ${TORCH:-$(sed -n 's/^\(torch\(vision\)\?==[0-9.]*\)$/\1+cpu/p' requirements.txt)} \
    || { echo "No CPU wheels of torch were found: give --build-arg TORCH_INDEX=ADDRESS, or build --target cuda."; exit 1; }
COPY --from=project /home/lens/app ./
USER 1000:1000
