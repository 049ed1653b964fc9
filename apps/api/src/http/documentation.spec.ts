import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerDashboard } from './dashboard.js';
import { registerDocumentation } from './documentation.js';

const SCRIPT = `export const text = '${'a'.repeat(500)}';`;

let home: string;
let site: string;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'retrace-documentation-'));
  site = join(home, 'site');
  const page = (title: string) => `<!doctype html><title>${title}</title>`;
  const files = {
    'site/index.html': page('Questions'),
    'site/404.html': page('No page'),
    'site/sql.html': page('SQL'),
    'site/api/index.html': page('API'),
    'site/api/runs.html': page('Runs'),
    'site/icon.svg': '<svg/>',
    'site/assets/app.abc123.js': SCRIPT,
    'site/assets/app.abc123.js.gz': gzipSync(SCRIPT),
    'secret.html': page('Secret'),
    'dashboard/index.html': page('Dashboard'),
  };
  for (const folder of ['site/api', 'site/assets', 'dashboard'])
    await mkdir(join(home, folder), { recursive: true });
  for (const [name, content] of Object.entries(files)) await writeFile(join(home, name), content);
});

afterAll(async () => {
  await rm(home, { recursive: true });
});

/** A server whose router takes addresses as that of the API does. */
async function serve(directory: string | null): Promise<FastifyInstance> {
  const server = fastify({ routerOptions: { ignoreTrailingSlash: true } });
  await registerDashboard(server, join(home, 'dashboard'));
  await registerDocumentation(server, directory);
  return server;
}

describe('the documentation', () => {
  it('has its first page at /docs/, where /docs leads', async () => {
    const server = await serve(site);
    const moved = await server.inject('/docs');
    expect([moved.statusCode, moved.headers.location]).toEqual([302, '/docs/']);
    expect((await server.inject('/docs/')).body).toContain('Questions');
  });

  it.each([
    ['/docs/sql', 'SQL'],
    ['/docs/sql?asOf=latest@3', 'SQL'],
    ['/docs/api/', 'API'],
    ['/docs/api/runs', 'Runs'],
    ['/live', 'Dashboard'],
  ])('answers %s with the page %s, to be revalidated each time', async (path, title) => {
    const { statusCode, headers, body } = await (await serve(site)).inject(path);
    expect(statusCode).toBe(200);
    expect(body).toContain(`<title>${title}</title>`);
    expect(headers['content-type']).toMatch(/^text\/html/);
    expect(headers['cache-control']).toBe('no-cache');
  });

  it.each([
    ['/docs/api', '/docs/api/'],
    ['/docs/sql/', '/docs/sql'],
    ['/docs/sql/?asOf=latest@3', '/docs/sql?asOf=latest@3'],
  ])('leads from %s to the address that the page has, %s', async (path, address) => {
    const { statusCode, headers } = await (await serve(site)).inject(path);
    expect([statusCode, headers.location]).toEqual([302, address]);
  });

  it('of a server that has none says so', async () => {
    for (const path of ['/docs', '/docs/', '/docs/sql', '/docs/icon.svg']) {
      const { statusCode, headers, body } = await (await serve(null)).inject(path);
      expect([path, statusCode]).toEqual([path, 404]);
      expect(headers['content-type']).toMatch(/^text\/html/);
      expect(body).toContain('RETRACE_DOCUMENTATION_DIRECTORY');
    }
  });

  it('lets clients keep files with a hash in their name, compressed where the build did it', async () => {
    const server = await serve(site);
    const { headers, rawPayload } = await server.inject({
      url: '/docs/assets/app.abc123.js',
      headers: { 'accept-encoding': 'gzip' },
    });
    expect(headers['cache-control']).toMatch(/max-age=31536000.*immutable/);
    expect(headers['content-encoding']).toBe('gzip');
    expect(headers['content-type']).toMatch(/javascript/);
    expect(gunzipSync(rawPayload).toString()).toBe(SCRIPT);
    expect((await server.inject('/docs/icon.svg')).headers['cache-control']).toMatch(/max-age=3600/);
  });

  it.each(['/docs/nothing', '/docs/nothing/', '/docs/..%2fsecret'])(
    'answers %s with its page for what does not exist',
    async (path) => {
      const { statusCode, body } = await (await serve(site)).inject(path);
      expect(statusCode).toBe(404);
      expect(body).toContain('No page');
    },
  );

  it('serves no file outside its directory', async () => {
    const { statusCode, body } = await (await serve(site)).inject('/docs/..%2fsecret.html');
    expect(statusCode).toBeGreaterThanOrEqual(400);
    expect(body).not.toContain('Secret');
  });

  it('that was not built says how to build it, and is served once it was', async () => {
    const later = join(home, 'later');
    const server = await serve(later);
    const before = await server.inject('/docs/');
    expect(before.statusCode).toBe(404);
    expect(before.body).toContain('npm run docs');
    await mkdir(later);
    await writeFile(join(later, 'index.html'), '<title>Now</title>');
    expect((await server.inject('/docs/')).body).toContain('Now');
  });
});
