# The service in a container. Not built by its authors, who had no Docker: they ran its steps by hand in an
# empty folder, and test/deploy/image.test.ts compares it with the sources.
#
#   docker build -t retention .
#   docker run --rm -p 127.0.0.1:8787:8787 -v retention-data:/data retention
#
# The service runs on the image's own Node.js, so npm's copy, an optional dependency, is left out. The base is named by
# digest, since tags move. To build on a newer one, with a Node.js of 26.10 or newer and below 27:
#
#   docker build --build-arg NODE_IMAGE=node:26.…-slim@sha256:… -t retention .
#
# `retention --version` says which commit it was built from, by the checkout's .git. Where the build does not get
# that, add `--build-arg COMMIT=…`.
ARG NODE_IMAGE=node:26.10.0-slim@sha256:930557a230abacbc3f4fd9b8648abf8f4bee1e17cb72195dcdfb2f709bc85b33
FROM ${NODE_IMAGE} AS libraries
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --omit=optional

FROM ${NODE_IMAGE}
WORKDIR /app
COPY --from=libraries /app/node_modules ./node_modules
# What .dockerignore admits.
COPY . ./
ARG COMMIT
RUN if [ -n "$COMMIT" ]; then mkdir -p .git && echo "$COMMIT" > .git/HEAD; fi
RUN ln -s /app/bin/retention /usr/local/bin/retention && install -d -o node -g node -m 700 /data \
  && install -d -o node -g node node_modules/.cache

# Only published ports of a container are reachable from outside. /data is for the embedded database; with
# DATABASE_URL it stays empty.
ENV HOST=0.0.0.0 PORT=8787 RETENTION_DATA_DIR=/data
USER 1000
# Compiles once what every start would compile: half of the time until the first answer.
RUN retention help > /dev/null \
  && NODE_COMPILE_CACHE=/app/node_modules/.cache/compile node -e "import('/app/src/service.ts')"
EXPOSE 8787
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --start-interval=1s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["retention"]
CMD ["serve"]
