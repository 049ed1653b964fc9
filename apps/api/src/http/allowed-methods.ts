import type { FastifyInstance } from 'fastify';
import { ProblemError } from '../problems/problem.js';

/** The files of the dashboard have any path. */
const DASHBOARD_URL = '/*';

interface KnownRoute {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
}

/** Answers 405 with `Allow` where the path of a request is known and its method is not. */
export function registerAllowedMethods(server: FastifyInstance): void {
  const routes = new Map<string, KnownRoute>();
  server.addHook('onRoute', ({ url, method }) => {
    if (url === DASHBOARD_URL) return;
    const route = routes.get(url) ?? { pattern: makePattern(url), methods: new Set() };
    for (const each of [method].flat()) route.methods.add(each.toUpperCase());
    routes.set(url, route);
  });
  server.addHook('onRequest', (request, reply, next) => {
    const isUnknown = request.is404 || request.routeOptions.url === DASHBOARD_URL;
    const path = request.url.split('?')[0];
    const known = isUnknown ? [...routes.values()].filter(({ pattern }) => pattern.test(path)) : [];
    const allowed = new Set(known.flatMap(({ methods }) => [...methods]));
    if (allowed.size === 0 || allowed.has(request.method)) {
      next();
      return;
    }
    const methods = [...allowed].join(', ');
    void reply.header('allow', methods);
    next(new ProblemError('METHOD_NOT_ALLOWED', `${path} has no ${request.method}; it has ${methods}`));
  });
}

/** Matches what a path of the router matches: a part that begins with a colon is any text without a slash. */
function makePattern(url: string): RegExp {
  const parts = url.split('/').map((part) => (part.startsWith(':') ? '[^/]+' : part.replaceAll('.', '\\.')));
  return new RegExp(`^${parts.join('/')}/?$`);
}
