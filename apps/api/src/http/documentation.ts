import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';

/** Address of the site. */
const BASE = '/docs';
/** The routes of the site, which anyone may read. */
export const DOCUMENTATION_ROUTES = [BASE, `${BASE}/*`] as const;

const HAS_EXTENSION = /\.[a-z0-9]+$/i;
const NOT_BUILT =
  '<!doctype html><html lang="en"><title>Documentation · Retrace</title>' +
  '<p>The documentation was not built. Run <code>npm run docs</code> in the repository, then load this page again. ' +
  'The same pages are the Markdown files in the folder <code>docs</code>; the reference of the API is at <a href="/api">/api</a>.</p></html>';

/**
 * Serves the built documentation at `/docs/`: pages without `.html` in their address, and files. A client that accepts gzip gets the file's `.gz`, where the
 * build made one. Names under `assets/` contain a hash of the content, so those files may be cached for ever. Where it was not built, a page says how; a
 * later build is served without a restart.
 */
export async function registerDocumentation(
  server: FastifyInstance,
  directory: string | null,
): Promise<void> {
  if (directory === null) return;
  const root = directory;
  if (!server.hasReplyDecorator('sendFile'))
    await server.register(fastifyStatic, { root, serve: false, preCompressed: true });
  for (const route of DOCUMENTATION_ROUTES)
    server.get(route, (request, reply) => {
      const [path] = request.url.split('?');
      // Links in the pages are relative to it; the router takes both addresses for one.
      if (path === BASE) return reply.redirect(`${BASE}/`);
      const name = path.slice(BASE.length + 1);
      if (HAS_EXTENSION.test(name)) {
        const isHashed = name.startsWith('assets/');
        return reply.sendFile(name, root, isHashed ? { maxAge: '365d', immutable: true } : { maxAge: '1h' });
      }
      void reply.header('cache-control', 'no-cache');
      if (!existsSync(join(root, 'index.html')))
        return reply.code(404).type('text/html; charset=utf-8').send(NOT_BUILT);
      const page = pageOf(name);
      if (page !== null && existsSync(join(root, page)))
        return reply.sendFile(page, root, { cacheControl: false });
      return reply.code(404).sendFile('404.html', root, { cacheControl: false });
    });
}

/** The file of a page; null for names that lead out of the site, or that no page has. */
function pageOf(name: string): string | null {
  if (/(^|\/)\.\.?(\/|$)|[^\w/.-]/.test(name)) return null;
  return name === '' || name.endsWith('/') ? `${name}index.html` : `${name}.html`;
}
