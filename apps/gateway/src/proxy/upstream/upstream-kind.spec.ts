import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { NEUTRAL_SAMPLING } from '@retrace/chat';
import type { LocalTokenizer } from '../proxy-config.js';
import { createTokenizerFinder } from './find-tokenizer.js';
import { KindDetector } from './upstream-kind.js';
import { Upstream } from './upstream.js';

type Routes = Readonly<Record<string, unknown>>;

const OWN: LocalTokenizer = { hash: 'own', encode: (text) => [text.length, 7] };
const VLLM: Routes = {
  '/version': { version: '0.32.0' },
  '/v1/models': { data: [{ id: 'm', root: '/models/m' }] },
};
const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A server of these routes; a function answers from the request's body. */
async function serve(routes: Routes, onRequest: (request: IncomingMessage) => void = () => undefined) {
  const server = createServer((request, response) => {
    onRequest(request);
    const answer = routes[request.url ?? ''];
    if (answer === undefined) {
      response.writeHead(404).end('{}');
      return;
    }
    if (typeof answer !== 'function') {
      response.end(JSON.stringify(answer));
      return;
    }
    void json(request).then((body) =>
      response.end(JSON.stringify((answer as (body: unknown) => unknown)(body))),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

async function factsOf(
  address: string,
  {
    given = null,
    isGiven = false,
    key = null,
  }: { given?: LocalTokenizer | null; isGiven?: boolean; key?: string | null } = {},
) {
  const upstream = new Upstream(address, 5_000);
  closers.push(() => {
    upstream.close();
  });
  const warnings: string[] = [];
  const opened: string[] = [];
  const findTokenizer = createTokenizerFinder({
    upstream,
    key,
    given: given && { path: '/given', tokenizer: given },
    open: (path) => {
      opened.push(path);
      return path === '/models/m' ? Promise.resolve(OWN) : Promise.reject(new Error('nothing there'));
    },
    warn: (message) => warnings.push(message),
  });
  const detector = new KindDetector(upstream, { given: isGiven ? 'vllm' : null, findTokenizer });
  return { facts: await detector.facts(), warnings, opened, detector };
}

const sameIds = (body: unknown) => ({ tokens: OWN.encode((body as { prompt: string }).prompt) });

describe('What is known of a model server', () => {
  it('is its tokenizer where its model’s directory is here and the server’s own ids are the same', async () => {
    const { facts, warnings } = await factsOf(await serve({ ...VLLM, '/tokenize': sameIds }));
    expect(facts).toEqual({ kind: 'vllm', samplingDefaults: {}, tokenizerHash: 'own' });
    expect(warnings).toEqual([]);
  });

  it('is no tokenizer where the ids differ, can’t be compared, or the directory is not here', async () => {
    const differs = await factsOf(await serve({ ...VLLM, '/tokenize': () => ({ tokens: [1, 7] }) }));
    expect([differs.facts.tokenizerHash, ...differs.warnings]).toEqual([
      null,
      expect.stringMatching(/^\/models\/m: this is not known to be the tokenizer of the model server/),
    ]);
    expect((await factsOf(await serve(VLLM))).facts.tokenizerHash).toBeNull();
    const elsewhere = { ...VLLM, '/v1/models': { data: [{ id: 'm', root: 'Qwen/Qwen3-8B' }] } };
    const { facts, warnings } = await factsOf(await serve({ ...elsewhere, '/tokenize': sameIds }));
    expect([facts.tokenizerHash, ...warnings]).toEqual([
      null,
      expect.stringMatching(/^The tokenizer of the model server is not known: .*--tokenizer/),
    ]);
  });

  it('is the tokenizer that the user names, unless the server’s own ids are others', async () => {
    const given: LocalTokenizer = { hash: 'given', encode: () => [1, 2] };
    const tokenize = (tokens: readonly number[]) => serve({ ...VLLM, '/tokenize': () => ({ tokens }) });
    const named = async (address: string) =>
      (await factsOf(address, { given, isGiven: true })).facts.tokenizerHash;
    expect(await named(await tokenize([1, 2]))).toBe('given');
    expect(await named(await tokenize([1, 3]))).toBeNull();
    // Without the route the user's word counts.
    expect(await named(await serve(VLLM))).toBe('given');
  });

  it('is what `retrace serve` tells of itself', async () => {
    const version = { version: 'retrace 1', tokenizer_hash: 'told', sampling_defaults: NEUTRAL_SAMPLING };
    const address = await serve({ '/version': version });
    expect((await factsOf(address)).facts).toEqual({
      kind: 'vllm',
      samplingDefaults: NEUTRAL_SAMPLING,
      tokenizerHash: 'told',
    });
    const { warnings } = await factsOf(address, { given: OWN });
    expect(warnings).toEqual([expect.stringMatching(/the model server has another one, told/)]);
  });

  it('is SGLang’s own directory', async () => {
    const routes = {
      '/get_model_info': { model_path: '/elsewhere', tokenizer_path: '/models/m' },
      '/v1/models': { data: [{ id: 'm', root: '/elsewhere' }] },
      '/tokenize': sameIds,
    };
    const { facts, opened } = await factsOf(await serve(routes));
    expect([facts.kind, facts.tokenizerHash, opened]).toEqual(['sglang', 'own', ['/models/m']]);
  });

  it('is no directory that a server of another kind tells', async () => {
    const version = { version: '1', tokenizer_path: '/etc', model_path: '/etc' };
    const { facts, opened } = await factsOf(
      await serve({ ...VLLM, '/version': version, '/tokenize': sameIds }),
    );
    expect([facts.kind, facts.tokenizerHash, opened]).toEqual(['vllm', 'own', ['/models/m']]);
  });

  it('is asked for with the proxy’s key, and not at all of a server whose kind is given', async () => {
    const requests: string[] = [];
    const address = await serve({ ...VLLM, '/tokenize': sameIds }, (request) =>
      requests.push(`${request.url} ${request.headers.authorization ?? ''}`),
    );
    await factsOf(address, { key: 'secret-key' });
    expect(requests).toContain('/v1/models Bearer secret-key');
    requests.length = 0;
    expect((await factsOf(address, { isGiven: true })).facts).toMatchObject({
      kind: 'vllm',
      tokenizerHash: null,
    });
    expect(requests).toEqual([]);
  });

  it('is asked again after a call without an answer: another server may have started there', async () => {
    const address = await serve({ ...VLLM, '/tokenize': sameIds });
    const { detector } = await factsOf(address);
    expect(detector.current?.tokenizerHash).toBe('own');
    detector.askAgain();
    expect(detector.current).toMatchObject({ kind: 'vllm', tokenizerHash: null });
    await expect.poll(async () => (await detector.facts()).tokenizerHash, { timeout: 120_000 }).toBe('own');
  });

  it('is nothing where nobody answers', async () => {
    const { facts, detector } = await factsOf('http://127.0.0.1:1/v1');
    expect([facts.kind, detector.current]).toEqual(['other', null]);
  });
});
