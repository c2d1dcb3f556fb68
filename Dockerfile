# Postroom in a container: an ordinary user, nothing written but /state, so the root may be mounted read-only.
#   docker build -t postroom .
#   docker run --read-only --cap-drop=ALL --security-opt=no-new-privileges \
#     -v /etc/postroom:/etc/postroom:ro -v postroom-state:/state -p 127.0.0.1:8000:8000 postroom
FROM python:3.13-slim AS build
WORKDIR /build
COPY requirements/build.txt requirements/runtime.txt requirements/
RUN python -m venv /opt/postroom \
 && /opt/postroom/bin/pip install --no-cache-dir --require-hashes -r requirements/build.txt -r requirements/runtime.txt
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN /opt/postroom/bin/pip install --no-cache-dir --no-deps --no-build-isolation . \
 && /opt/postroom/bin/pip uninstall --yes hatchling editables

FROM python:3.13-slim
RUN useradd --system --uid 10001 --home-dir /state --shell /usr/sbin/nologin postroom \
 && install -d -m 0700 -o postroom -g postroom /state
COPY --from=build /opt/postroom /opt/postroom
# The last has large buffers of closed connections go back to the system: a third of the memory of many watched mailboxes.
ENV PATH=/opt/postroom/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 MALLOC_MMAP_THRESHOLD_=131072
USER postroom
VOLUME /state
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s CMD ["python", "-c", "import urllib.request; urllib.request.urlopen(urllib.request.Request('http://127.0.0.1:8000/health', headers={'Host': 'localhost'}), timeout=3)"]
ENTRYPOINT ["postroom"]
CMD ["serve", "--config", "/etc/postroom/postroom.yaml"]
