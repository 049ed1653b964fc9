import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openBackend } from '@retrace/compute';
import { resolveRecipe } from '@retrace/config';
import { getEnvironment } from '@retrace/environments';
import type { Warning } from '@retrace/log';
import { LORA_TARGETS, openPolicyText, Transformer, type PolicyText } from '@retrace/policy';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { EndpointActor } from '../apps/collector/src/actors/endpoint-actor.js';
import { PolicyEndpoint } from '../apps/collector/src/actors/policy-endpoint.js';
import { ownLogprobs } from '../apps/collector/src/actors/weight-check.js';
import { VllmStandIn } from './support/vllm-stand-in.js';

/* Several servers of one run, each a real HTTP server that stands in for a vLLM with adapters: `support/vllm-stand-in.ts`. */

const RUN = 'run';
const SAMPLING = { temperature: 1, topK: 0, topP: 1, greedy: false, maxNewTokens: 1 };

let text: PolicyText;
let models: readonly Transformer[];
let directory = '';
let servers: readonly VllmStandIn[] = [];
let endpoint: PolicyEndpoint | null = null;
let warnings: Warning[] = [];

beforeAll(async () => {
  await openBackend({ prefer: ['cpu'] });
  text = await openPolicyText({ tokenizer: 'byte', words: null, directory: undefined });
  const config = {
    ...{ vocabSize: text.tokenizer.vocabSize, hiddenSize: 8, numLayers: 1, numHeads: 2, numKeyValueHeads: 1 },
    ...{ headDim: 4, intermediateSize: 16, ropeTheta: 10_000, rmsNormEps: 1e-6, tieWordEmbeddings: true },
    ...{ attentionBias: true, maxPositions: 128, valueHead: false },
  };
  models = [0, 1, 2].map((seed) => Transformer.initialize(config, seed));
});
afterAll(() => {
  for (const model of models) model.dispose();
});

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'retrace-sampling-'));
  // Weights that are written already, so that these models need no adapters.
  for (const version of models.keys()) await mkdir(join(directory, nameOf(version)));
  warnings = [];
});
afterEach(async () => {
  await endpoint?.close();
  endpoint = null;
  await Promise.all(servers.map((server) => server.stop()));
  await rm(directory, { recursive: true, force: true });
});

const nameOf = (version: number) => `retrace-${RUN}-${version}`;
const messages = () => warnings.map(({ message }) => message);

const PROGRAM = fileURLToPath(new URL('support/named-model-server.mjs', import.meta.url));

async function open(numServers: number, numUp = numServers, tryAgainMs = 200): Promise<PolicyEndpoint> {
  servers = await Promise.all(Array.from({ length: numServers }, () => VllmStandIn.start()));
  for (const server of servers)
    server.scores = (name, prompt) => scores.get(`${name} ${prompt.length}`) ?? prompt.map(() => Number.NaN);
  await Promise.all(servers.slice(numUp).map((server) => server.stop()));
  const urls = servers.map(({ url }) => url);
  const lora = { rank: 1, alpha: 1, targets: LORA_TARGETS };
  return openEndpoint({ urls, maxRetries: 0 }, { lora }, tryAgainMs);
}

async function openEndpoint(fields: object, policy: object, tryAgainMs?: number): Promise<PolicyEndpoint> {
  const recipe = resolveRecipe('bandit-ppo', {
    assignments: [
      ...['model=null', 'context.tokenizer=model', 'loss.valueCoefficient=0'],
      `policy=${JSON.stringify({ model: directory, maxPositions: 64, ...policy })}`,
      'advantage={"estimator":"grpo","options":{}}',
      ...['collection.groupSize=4', 'collection.temperature=1'],
      `collection.endpoint=${JSON.stringify({ kind: 'vllm', directory, deadlineMs: 60_000, ...fields })}`,
    ],
  });
  endpoint = await PolicyEndpoint.open({
    ...{ runId: RUN, recipe, text, weightsDirectory: directory, variables: {}, isAlone: true },
    tryAgainMs,
    warnings: { raise: (warning) => warnings.push(warning) },
    signal: new AbortController().signal,
  });
  if (endpoint === null) throw new Error('the recipe has no endpoint');
  return endpoint;
}

/** The policies' own logprobs by name and length of the context, which right servers give too. */
const scores = new Map<string, Float32Array>();

/** Delivers a version to servers that compute with its weights, and gives an actor of it. */
async function serve(to: PolicyEndpoint, version: number): Promise<EndpointActor> {
  const tokenIds = Array.from(
    text.tokenizer.encode(
      'The quick brown fox jumps over the lazy dog. 12 + 30 = 42; {"move": "left", "to": [3, 7]}\nOK?',
    ),
  ).slice(0, 63);
  scores.set(`${nameOf(version)} ${tokenIds.length}`, await ownLogprobs(models[version], tokenIds));
  await to.serve(version, models[version], '');
  return to.actor({ maxTokens: 64, sampling: SAMPLING, stopStrings: undefined, ownStopStrings: [] });
}

/** Requests a turn of a slot, whose first token says which episode it is. */
function ask(actor: EndpointActor, slot: number): void {
  const observation = { text: 'look', anchor: null, legalActions: null };
  actor.request({
    ...{ slot, observation, purpose: null, samplingSeed: 1, greedy: false },
    environment: getEnvironment('frozen-lake').create(),
    prompt: { observation, tokenIds: Int32Array.of(slot), keptPrefixTokens: 0 },
    messages: [{ role: 'user', content: observation.text }],
  });
}

/** Waits for the turns that were requested; returns the versions of their tokens by slot. */
async function answers(actor: EndpointActor): Promise<Map<number, number>> {
  const versions = new Map<number, number>();
  while (actor.numPending > 0)
    for (const act of await actor.step()) {
      if ('failure' in act) throw new Error(act.failure.reason);
      versions.set(act.slot, act.turn.policyVersions[0]);
    }
  return versions;
}

async function play(actor: EndpointActor, slots: readonly number[]): Promise<Map<number, number>> {
  for (const slot of slots) ask(actor, slot);
  return answers(actor);
}

/** Has a server answer deliveries only once the function is called that is returned. */
function hold(server: VllmStandIn): () => void {
  let letGo = (): void => undefined;
  const isLetGo = new Promise<undefined>((resolve) => {
    letGo = () => {
      resolve(undefined);
    };
  });
  server.onLoad = () => isLetGo;
  return letGo;
}

/** The episodes that a server sampled turns of. */
const episodesAt = (server: VllmStandIn) => [...new Set(server.turns.map(({ prompt }) => prompt[0]))].sort();

it('gives each server as many of the episodes, and each episode all its turns on one server', async () => {
  const actor = await serve(await open(3), 0);
  const slots = [0, 1, 2, 3, 4, 5];
  // Each time in another order, in which the least busy server would be another one.
  for (let turn = 0; turn < 4; turn++) await play(actor, [...slots.slice(turn), ...slots.slice(0, turn)]);
  const found = servers.map(episodesAt);
  expect(found.map(({ length }) => length)).toEqual([2, 2, 2]);
  expect(found.flat().sort()).toEqual(slots);
  expect(servers.map(({ turns }) => turns.length)).toEqual([8, 8, 8]);
});

it('brings each version to every server, and checks the logprobs of each', async () => {
  const opened = await open(2);
  await serve(opened, 0);
  const actor = await serve(opened, 1);
  for (const { loaded } of servers) expect(loaded).toEqual([nameOf(0), nameOf(1)]);
  expect([...(await play(actor, [0, 1])).values()]).toEqual([1, 1]);
  const [, wrong] = servers;
  wrong.scores = (_, prompt) => prompt.map(() => -9);
  await expect(serve(opened, 2)).rejects.toMatchObject({
    code: 'WEIGHTS_DIFFER',
    message: expect.stringContaining(`the server at ${wrong.url} differ`) as string,
  });
  expect(warnings.filter(({ severity }) => severity === 'alarm')).toHaveLength(1);
});

it('ends the run where a server that takes a version late computes with other weights', async () => {
  const opened = await open(2);
  await serve(opened, 0);
  const [, wrong] = servers;
  wrong.onLoad = () => 400;
  await serve(opened, 1);
  wrong.onLoad = () => undefined;
  wrong.scores = (_, prompt) => prompt.map(() => -9);
  const actor = () =>
    opened.actor({ maxTokens: 64, sampling: SAMPLING, stopStrings: undefined, ownStopStrings: [] });
  await vi.waitFor(
    () => {
      expect(actor).toThrow(`the server at ${wrong.url} differ`);
    },
    { timeout: 30_000 },
  );
  await expect(serve(opened, 2)).rejects.toMatchObject({ code: 'WEIGHTS_DIFFER' });
});

it('ends the run at once where a server takes no weights as it was started', async () => {
  const opened = await open(2);
  servers[1].onLoad = () => 404;
  await expect(serve(opened, 0)).rejects.toMatchObject({ code: 'UNSUPPORTED' });
});

it('delivers a version once where it is requested twice, and the next one after it', async () => {
  const opened = await open(2);
  const letGo = hold(servers[1]);
  const serves = [serve(opened, 0), serve(opened, 0), serve(opened, 1)];
  const isServed = vi.fn();
  void serves[1].then(isServed);
  await expect.poll(() => servers[0].loaded).toEqual([nameOf(0)]);
  await setImmediate();
  expect(isServed).not.toHaveBeenCalled();
  letGo();
  await Promise.all(serves);
  for (const { loaded } of servers) expect(loaded).toEqual([nameOf(0), nameOf(1)]);
});

it('marks each token with the version of the server that sampled it, in the middle of a delivery', async () => {
  const opened = await open(2);
  const first = await serve(opened, 0);
  const [, late] = servers;
  const letGo = hold(late);
  const delivered = serve(opened, 1);
  await expect.poll(() => servers[0].loaded).toContain(nameOf(1));
  await expect.poll(async () => [...(await play(first, [0, 1])).values()].sort()).toEqual([0, 1]);
  letGo();
  const second = await delivered;
  expect([...(await play(second, [0, 1])).values()]).toEqual([1, 1]);
  expect(new Set(late.turns.map(({ model }) => model))).toEqual(new Set([nameOf(0), nameOf(1)]));
});

it('moves the turns and episodes of a server that goes down to the others, and uses it again once it is back with its weights', async () => {
  const actor = await serve(await open(2), 0);
  const slots = [0, 1, 2, 3];
  await play(actor, slots);
  const [up, down] = servers;
  const lost = episodesAt(down);
  // Its turns are under way when it goes down.
  let stopped: Promise<void> | null = null;
  down.onTurn = async () => {
    await (stopped ??= down.stop());
    return 503;
  };
  expect(await play(actor, slots)).toEqual(new Map(slots.map((slot) => [slot, 0])));
  expect(episodesAt(up)).toEqual(slots);
  expect(messages()).toEqual([
    expect.stringContaining(`server B of 2 at ${down.url} is left out until it answers`) as string,
  ]);
  down.onTurn = () => undefined;
  await down.restart();
  await expect.poll(messages, { timeout: 30_000 }).toContain(`server B of 2 at ${down.url} gets turns again`);
  expect(down.loaded).toEqual([nameOf(0), nameOf(0)]);
  for (const slot of slots) actor.release(slot);
  const before = down.turns.length;
  await play(actor, slots);
  expect(down.turns.length - before).toBe(2);
  expect(lost).toHaveLength(2);
});

it('goes on without a server that takes no weights, and with it from the version that it takes', async () => {
  const opened = await open(2);
  await serve(opened, 0);
  const [, refusing] = servers;
  refusing.onLoad = () => 400;
  await serve(opened, 1);
  // It never gets the version before, which is the newest no more.
  const actor = await serve(opened, 2);
  const slots = [0, 1, 2, 3];
  expect([...(await play(actor, slots)).values()]).toEqual([2, 2, 2, 2]);
  expect(refusing.turns).toEqual([]);
  expect(messages()[0]).toMatch(
    `server B of 2 at ${refusing.url} gets no turns until it has policy version 1: `,
  );
  refusing.onLoad = () => undefined;
  await expect.poll(() => refusing.loaded, { timeout: 30_000 }).toEqual([nameOf(0), nameOf(2)]);
  for (const slot of slots) actor.release(slot);
  await expect.poll(async () => (await play(actor, slots)) && refusing.turns.length).toBeGreaterThan(0);
  expect(new Set(refusing.turns.map(({ model }) => model))).toEqual(new Set([nameOf(2)]));
});

it('keeps the weights that a server which is down may load when it is back', async () => {
  const opened = await open(2);
  await serve(opened, 0);
  await servers[1].stop();
  for (const version of [1, 2]) await serve(opened, version);
  // The one that is up keeps two versions.
  expect((await readdir(directory)).sort()).toEqual([0, 1, 2].map(nameOf));
});

it('begins without a server that is down, and waits for one where all are', async () => {
  const opened = await open(2, 1);
  const actor = await serve(opened, 0);
  expect([...(await play(actor, [0, 1])).values()]).toEqual([0, 0]);
  const [up, down] = servers;
  expect(opened.all.map(({ isLeftOut }) => isLeftOut)).toEqual([false, true]);
  await up.stop();
  for (const slot of [0, 1]) ask(actor, slot);
  await expect.poll(() => opened.all.map(({ isLeftOut }) => isLeftOut)).toEqual([true, true]);
  expect(actor.numPending).toBe(2);
  // The one that never had a policy answers, later takes it, and gets the turns that wait for the other.
  let isTaken = false;
  down.onLoad = () => (isTaken ? undefined : 400);
  await down.restart();
  await expect
    .poll(() => opened.all.map(({ isLeftOut }) => isLeftOut), { timeout: 30_000 })
    .toEqual([true, false]);
  expect(messages()).not.toContain(`server B of 2 at ${down.url} gets turns again`);
  isTaken = true;
  expect([...(await answers(actor)).values()]).toEqual([0, 0]);
  expect(episodesAt(down)).toEqual([0, 1]);
  expect(messages()).toContain(`server B of 2 at ${down.url} gets turns again`);
});

it('leaves turns under way at a server that fails once, and gives it new ones when it has answered', async () => {
  // Turns stay for three pauses, in which a busy machine has the answer of a server that is up.
  const opened = await open(2, 2, 1_500);
  const actor = await serve(opened, 0);
  const [, failing] = servers;
  let letGo = (): void => undefined;
  const isLetGo = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let numTurns = 0;
  failing.onTurn = async () => {
    numTurns++;
    if (numTurns === 2) return 503;
    await isLetGo;
    return undefined;
  };
  for (const slot of [0, 1, 2, 3]) ask(actor, slot);
  await expect
    .poll(messages, { timeout: 30_000 })
    .toContain(`server B of 2 at ${failing.url} gets turns again`);
  letGo();
  await answers(actor);
  // The refused turn again, too.
  expect(numTurns).toBe(3);
  expect(episodesAt(servers[0])).toHaveLength(2);
});

it('starts as many servers as the recipe says, each version in a process of each, and stops them all', async () => {
  const command = [process.execPath, PROGRAM, '{port}', '{name}', '{model}'];
  const opened = await openEndpoint({ command, numServers: 2, maxLogprobDifference: null }, {});
  const pids: string[] = [];
  for (const version of [0, 1]) {
    const actor = await serve(opened, version);
    for (const slot of [0, 1]) ask(actor, slot);
    while (actor.numPending > 0)
      for (const act of await actor.step()) {
        if ('failure' in act) throw new Error(act.failure.reason);
        pids.push(Array.from(act.turn.tokenIds, (token) => token - 1).join(''));
        expect(new Set(act.turn.policyVersions)).toEqual(new Set([version]));
      }
  }
  expect(new Set(pids).size).toBe(4);
  await opened.close();
  endpoint = null;
  for (const pid of pids) expect(() => process.kill(Number(pid), 0)).toThrow('ESRCH');
});

it('fails a turn that every server refuses', async () => {
  const actor = await serve(await open(2), 0);
  for (const server of servers) server.onTurn = () => 400;
  ask(actor, 0);
  const [act] = await actor.step();
  expect(act).toMatchObject({ failure: { of: 'model', reason: expect.stringContaining('400') as string } });
  expect(servers.map(({ turns }) => turns.length).sort()).toEqual([0, 1]);
  for (const server of servers) server.onTurn = () => 500;
  ask(actor, 1);
  expect((await actor.step())[0]).toMatchObject({ failure: { of: 'model' } });
  expect(servers.map(({ turns }) => turns.length).sort()).toEqual([1, 2]);
  // A turn that no server can sample says nothing about the servers.
  expect(messages()).toEqual([]);
});
