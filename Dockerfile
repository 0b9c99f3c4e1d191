# Nacre with the bundled embedder: docker build -t nacre . ; the volume /data holds keys, graphs and conversations.
FROM python:3.11-slim AS build
WORKDIR /src
COPY pyproject.toml requirements.lock README.md LICENSE ./
COPY nacre nacre
COPY ingestion ingestion
COPY tools tools
COPY agents agents
COPY graph graph
RUN python -m venv /opt/nacre && /opt/nacre/bin/pip install --no-cache-dir --constraint requirements.lock '.[bundled,qdrant,otel]'

FROM python:3.11-slim
COPY --from=build /opt/nacre /opt/nacre
RUN useradd --create-home --uid 1000 nacre && mkdir /data && chown nacre /data
USER nacre
WORKDIR /home/nacre
ENV PATH=/opt/nacre/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    NACRE_DATA=/data \
    NACRE_HOST=0.0.0.0 \
    NACRE_LOG=json
VOLUME /data
EXPOSE 8200
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8200/healthz', timeout=4)"]
# exec form: the stop signal reaches the server, which finishes its turns first
ENTRYPOINT ["nacre"]
CMD ["serve"]
