# One image for every role: `docker build -t retrace .`, then `docker run retrace api` and so on.

FROM node:20.20.2-bookworm-slim AS build
WORKDIR /app
COPY . .
RUN npm ci --ignore-scripts
RUN npm run build && npm run docs
RUN npm prune --omit=dev --ignore-scripts

FROM node:20.20.2-bookworm-slim
ENV NODE_ENV=production RETRACE_IMAGE=1 RETRACE_DATA_DIR=/data XDG_CACHE_HOME=/data/cache
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/libs ./libs
COPY --from=build /app/stand-ins ./stand-ins
COPY --from=build /app/apps ./apps
COPY --from=build /app/clients ./clients
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
ENTRYPOINT ["node", "/app/apps/cli/bin/retrace.mjs"]
CMD ["--help"]
