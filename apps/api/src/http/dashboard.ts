import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';

/** Its page is the rendered document of this API. */
const REFERENCE = /^\/api\/?$/;
const RESERVED = /^\/(api|metrics)(\/|$)/;
const HAS_EXTENSION = /\.[a-z0-9]+$/i;
/** Pages of things with a name or an id; a name may end like a file's. */
const PAGE = /^\/(runs|plays|datasets)\//;

/**
 * Serves the built dashboard: its files, the reference of this API at `/api`, and its index for every other path, since the page does its own routing.
 * A client that accepts Brotli or gzip gets the file's `.br` or `.gz`, where the build made one.
 * Names under `assets/` contain a hash of the content, so those files may be cached for ever.
 *
 * @returns false when the directory holds no dashboard
 */
export async function registerDashboard(server: FastifyInstance, directory: string | null): Promise<boolean> {
  if (directory === null || !existsSync(join(directory, 'index.html'))) return false;
  await server.register(fastifyStatic, { root: directory, serve: false, preCompressed: true });
  server.get('/*', (request, reply) => {
    const path = request.url.split('?')[0];
    if (REFERENCE.test(path)) {
      void reply.header('vary', 'accept').header('link', '</api/openapi.json>; rel="service-desc"');
      if (wantsJson(request.headers.accept)) void reply.redirect('/api/openapi.json');
      else void reply.sendFile('reference.html', { cacheControl: false }).header('cache-control', 'no-cache');
      return;
    }
    if (RESERVED.test(path)) {
      reply.callNotFound();
      return;
    }
    if (PAGE.test(path) || !HAS_EXTENSION.test(path)) {
      void reply.sendFile('index.html', { cacheControl: false }).header('cache-control', 'no-cache');
      return;
    }
    const isHashed = path.startsWith('/assets/');
    void reply.sendFile(path.slice(1), isHashed ? { maxAge: '365d', immutable: true } : { maxAge: '1h' });
  });
  return true;
}

function wantsJson(accept = ''): boolean {
  return accept.includes('json') && !accept.includes('html');
}
