# One Posthorn: HTTP, MCP, pages and the publisher. Everything that must last is in /data.
#
# The full image has the compiler and the headers that better-sqlite3 needs where none of its builds can be had.
FROM node:24-bookworm AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build

FROM node:24-bookworm AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts \
 && npm_config_nodedir=/usr/local npm rebuild better-sqlite3 \
 && rm -rf node_modules/better-sqlite3/deps node_modules/better-sqlite3/src

FROM node:24-bookworm-slim
LABEL org.opencontainers.image.title="Posthorn" \
      org.opencontainers.image.description="Schedules posts to your channels and publishes each at its time, never twice." \
      org.opencontainers.image.licenses="MIT"
WORKDIR /app
COPY --from=packages /app/node_modules ./node_modules
COPY package.json README.md LICENSE CHANGELOG.md ./
COPY --from=build /build/dist ./dist
RUN ln -s /app/dist/posthorn.js /usr/local/bin/posthorn \
 && install -d -o node -g node -m 700 /data
ENV NODE_ENV=production \
    POSTHORN_DATA_DIR=/data \
    POSTHORN_HOST=0.0.0.0 \
    POSTHORN_PORT=4747
USER node
VOLUME /data
EXPOSE 4747
# Only of the process: /readyz also tells of a database or publisher that does not work, which no new start mends.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.POSTHORN_PORT + '/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# It hears SIGTERM as the first process too, finishes what is under way, and collects its own children.
ENTRYPOINT ["node", "/app/dist/posthorn.js"]
CMD ["serve"]
