# Builds the wheel, then an image with the wheel and nothing to build it. `make docker` runs the demo in it;
#     docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/data" labelcut audit customers.csv --label churned
FROM python:3.13-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends g++ git && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
# A core that did not compile must not become an image.
RUN git config --global --add safe.directory /source \
 && LABELCUT_COMPILED=1 python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    python -m pip install --no-cache-dir "$(echo /wheels/*.whl)[parquet,excel,images]"
RUN useradd --create-home labelcut && mkdir /data && chown labelcut /data
USER labelcut
WORKDIR /data
ENTRYPOINT ["labelcut"]
CMD ["demo"]
