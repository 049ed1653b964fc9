import { existsSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';

/** Address of the site. */
const BASE = '/docs';
/** The routes of the site, which anyone may read. */
export const DOCUMENTATION_ROUTES = [BASE, `${BASE}/*`] as const;

const HTML = 'text/html; charset=utf-8';
const HAS_EXTENSION = /\.[a-z0-9]+$/i;
const NOT_BUILT = missing(
  'The documentation was not built. Run <code>npm run docs</code> in the repository, then load this page again.',
);
const NOT_SERVED = missing(
  'This server has no documentation: <code>RETRACE_DOCUMENTATION_DIRECTORY</code> names the directory of the built site.',
);

/**
 * Serves the built documentation at `/docs/`: pages without `.html` in their address, and files. A client that accepts gzip gets the file's `.gz`, where the
 * build made one. Names under `assets/` contain a hash of the content, so those files may be cached for ever. Where it was not built, a page says how; a
 * later build is served without a restart.
 *
 * @param directory of the built site; null where this server has none, which a page then says
 */
export async function registerDocumentation(
  server: FastifyInstance,
  directory: string | null,
): Promise<void> {
  if (directory === null) {
    for (const route of DOCUMENTATION_ROUTES)
      server.get(route, (_, reply) => reply.code(404).type(HTML).send(NOT_SERVED));
    return;
  }
  if (!server.hasReplyDecorator('sendFile'))
    await server.register(fastifyStatic, { root: directory, serve: false, preCompressed: true });
  for (const route of DOCUMENTATION_ROUTES)
    server.get(route, (request, reply) => {
      const [path, query] = request.url.split('?');
      // Links in the pages are relative to it; the router takes both addresses for one.
      if (path === BASE) return reply.redirect(`${BASE}/`);
      const name = path.slice(BASE.length + 1);
      if (HAS_EXTENSION.test(name)) {
        const isHashed = name.startsWith('assets/');
        return reply.sendFile(
          name,
          directory,
          isHashed ? { maxAge: '365d', immutable: true } : { maxAge: '1h' },
        );
      }
      void reply.header('cache-control', 'no-cache');
      if (!existsSync(join(directory, 'index.html'))) return reply.code(404).type(HTML).send(NOT_BUILT);
      const page = findPage(directory, name);
      if (page !== null) return reply.sendFile(page, directory, { cacheControl: false });
      const other = name.endsWith('/') ? name.slice(0, -1) : `${name}/`;
      if (findPage(directory, other) !== null)
        return reply.redirect(`${BASE}/${other}${query === undefined ? '' : `?${query}`}`);
      return reply.code(404).sendFile('404.html', directory, { cacheControl: false });
    });
}

/** A page in place of the documentation. */
function missing(reason: string): string {
  return (
    `<!doctype html><html lang="en"><title>Documentation · Retrace</title><p>${reason} ` +
    'The same pages are the Markdown files in the folder <code>docs</code>; the reference of the API is at <a href="/api">/api</a>.</p></html>'
  );
}

/** The file of a page; null for names that lead out of the site, or that no page has. */
function findPage(directory: string, name: string): string | null {
  if (/(^|\/)\.\.?(\/|$)|[^\w/.-]/.test(name)) return null;
  const page = name === '' || name.endsWith('/') ? `${name}index.html` : `${name}.html`;
  return existsSync(join(directory, page)) ? page : null;
}
