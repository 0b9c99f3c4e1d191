# Nacre with the bundled embedder: docker build -t nacre . ; with llama.cpp in addition: docker build --target local .
# The volume /data holds keys, graphs and conversations.
FROM python:3.11-slim AS dependencies
WORKDIR /src
RUN python -m venv /opt/nacre
COPY pyproject.toml requirements.lock ./
# packages before sources: after a change of code, none is installed again
RUN python -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
    print(*p['dependencies'], *sum((p['optional-dependencies'][e] for e in ('bundled', 'qdrant', 'otel', 'postgres', 's3', 'login', 'spreadsheets')), []), sep='\n')" > wanted.txt \
    && /opt/nacre/bin/pip install --no-cache-dir --constraint requirements.lock --requirement wanted.txt "hatchling>=1.27"

FROM dependencies AS dependencies-local
RUN python -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
    print(*p['optional-dependencies']['local'], sep='\n')" > wanted.txt \
    && /opt/nacre/bin/pip install --no-cache-dir --constraint requirements.lock --requirement wanted.txt

FROM dependencies AS build
COPY README.md LICENSE ./
COPY nacre nacre
COPY ingestion ingestion
COPY tools tools
COPY agents agents
COPY graph graph
RUN /opt/nacre/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM dependencies-local AS build-local
COPY README.md LICENSE ./
COPY nacre nacre
COPY ingestion ingestion
COPY tools tools
COPY agents agents
COPY graph graph
RUN /opt/nacre/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.11-slim AS runtime
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

FROM runtime AS local
COPY --from=build-local /opt/nacre /opt/nacre

FROM runtime AS default
COPY --from=build /opt/nacre /opt/nacre
