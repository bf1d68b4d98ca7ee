FROM python:3.11-slim
RUN useradd --create-home --uid 1000 lens
WORKDIR /home/lens/app
COPY requirements.txt .
RUN pip install --no-cache-dir -r requirements.txt
COPY app.py pyproject.toml README.md LICENSE ./
COPY sdtps sdtps
COPY assets/examples assets/examples
COPY checkpoints checkpoints
USER lens
ENV SDTPS_HOST=0.0.0.0 SDTPS_PORT=7860 PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
EXPOSE 7860
HEALTHCHECK --start-period=60s CMD python -c "import urllib.request as u; u.urlopen('http://127.0.0.1:7860/config', timeout=5)"
CMD ["python", "app.py"]
