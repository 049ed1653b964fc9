import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GeneratedTokens, GenerationRequest } from '@retrace/chat';
import {
  EndpointError,
  type ConfirmedWeights,
  type DeliveredWeights,
  type TokenEngine,
  type WeightDelivery,
} from '@retrace/endpoints';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CollectorError } from '../collector-error.js';
import { PausableEngine } from './pausable-engine.js';
import { ServedPolicies } from './served-policies.js';
import { WatchedEngine } from './watched-engine.js';
import type { WeightCheck } from './weight-check.js';

const BASE = 7;

type Kind = Pick<WeightDelivery, 'form' | 'turnsUnderWay' | 'lossShows'>;

/** A server whose tokens tell the weights that sampled them: the version, or the base model's. `restart` has it forget them. */
class ForgetfulServer implements WeightDelivery, Pick<TokenEngine, 'generate'> {
  readonly form: Kind['form'];
  readonly turnsUnderWay: Kind['turnsUnderWay'];
  readonly lossShows: Kind['lossShows'];
  readonly delivered: string[] = [];
  private names: string[] = [];
  /** Called at the beginning of each turn. */
  onTurn: () => Promise<void> | void = () => undefined;

  constructor(
    kind: Kind,
    private readonly tellsVersions: boolean,
  ) {
    this.form = kind.form;
    this.turnsUnderWay = kind.turnsUnderWay;
    this.lossShows = kind.lossShows;
  }

  restart(): void {
    this.names = [];
  }

  /** As another collector of the run does. */
  deliver({ name }: DeliveredWeights): Promise<ConfirmedWeights> {
    if (!this.names.includes(name)) this.delivered.push(name);
    this.names = this.form === 'adapter' ? [...this.names, name] : [name];
    return Promise.resolve({ version: name, model: this.form === 'adapter' ? name : 'tiny' });
  }

  serving(name: string): Promise<string | null> {
    if (this.form === 'adapter') return Promise.resolve(this.names.includes(name) ? name : null);
    return Promise.resolve(this.names[0] ?? 'default');
  }

  retire(name: string): Promise<void> {
    this.names = this.names.filter((each) => each !== name);
    return Promise.resolve();
  }

  async generate({ model }: GenerationRequest): Promise<GeneratedTokens> {
    await this.onTurn();
    if (this.form === 'adapter' && !this.names.includes(model))
      throw new EndpointError('HTTP_STATUS', `HTTP 404: the model ${model} does not exist`, { status: 404 });
    const name = this.form === 'adapter' ? model : this.names[0];
    const token = name === undefined ? BASE : Number(name.split('-').at(-1));
    return {
      tokenIds: Int32Array.of(token),
      logprobs: Float32Array.of(-1),
      versions: this.tellsVersions ? [{ version: name ?? 'default', start: 0, end: 1 }] : null,
      stopReason: 'length',
    };
  }
}

const KINDS = {
  'adapters of vLLM': [{ form: 'adapter', turnsUnderWay: 'keep', lossShows: 'inTurns' }, false],
  'all weights of vLLM': [{ form: 'model', turnsUnderWay: 'ended', lossShows: 'whenAsked' }, false],
  'all weights of SGLang': [{ form: 'model', turnsUnderWay: 'switch', lossShows: 'inTurns' }, true],
} as const satisfies Record<string, readonly [Kind, boolean]>;

const aborted = new AbortController();
/** Weights that are written already, so no model is needed. */
let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'retrace-watched-'));
  for (let version = 0; version < 6; version++) await mkdir(join(directory, `retrace-run-${version}`));
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(directory, { recursive: true });
});

function open(kind: keyof typeof KINDS, check: WeightCheck | null = null) {
  const [{ form, turnsUnderWay, lossShows }, tellsVersions] = KINDS[kind];
  const server = new ForgetfulServer({ form, turnsUnderWay, lossShows }, tellsVersions);
  const losses: number[] = [];
  const alarms: string[] = [];
  const pausable = new PausableEngine(server as unknown as TokenEngine);
  const policies = new ServedPolicies({
    ...{ runId: 'run', delivery: server },
    files: { filesOf: ({ name, location }) => ({ name, location, directory: join(directory, name) }) },
    ...{
      pausable,
      check,
      isAlone: true,
      signal: aborted.signal,
      onDiffer: (message) => alarms.push(message),
      onLoss: (version) => losses.push(version),
    },
  });
  const engine = new WatchedEngine({ engine: pausable, policies, lossShows: server.lossShows });
  const turn = async () => {
    const { model } = policies.newest;
    const { tokenIds } = await engine.generate({ model } as GenerationRequest);
    return tokenIds[0];
  };
  const serve = (version: number) =>
    policies.serve({
      ...{ policyVersion: version, name: `retrace-run-${version}`, location: '' },
      ownLogprobs: new Float32Array(0),
    });
  return { server, policies, engine, losses, alarms, turn, serve };
}

describe.each(Object.keys(KINDS) as (keyof typeof KINDS)[])('a server with %s that restarts', (kind) => {
  it('gets the newest weights again before one of its tokens is taken', async () => {
    const { server, losses, turn, serve } = open(kind);
    await serve(2);
    expect(await turn()).toBe(2);
    server.restart();
    expect(await Promise.all(Array.from({ length: 8 }, turn))).toEqual(new Array(8).fill(2));
    expect(losses).toEqual([2]);
    expect(server.delivered).toEqual(['retrace-run-2', 'retrace-run-2']);
  });

  it('is found in the middle of turns, and when the next version comes', async () => {
    const { server, turn, serve } = open(kind);
    await serve(2);
    let numTurns = 0;
    server.onTurn = () => {
      if (numTurns++ === 2) server.restart();
    };
    const asked = Array.from({ length: 4 }, turn);
    await serve(3);
    for (const token of await Promise.all(asked)) expect([2, 3]).toContain(token);
    server.onTurn = () => undefined;
    expect(await turn()).toBe(3);
  });

  it('gets weights again that it lost while they were delivered', async () => {
    const { server, turn, serve } = open(kind);
    await serve(2);
    const deliver = server.deliver.bind(server);
    vi.spyOn(server, 'deliver').mockImplementationOnce(async (files) => {
      await deliver(files);
      server.restart();
      throw new EndpointError('WEIGHTS_NOT_TAKEN', 'the server says that it serves no version');
    });
    await serve(3);
    expect(await turn()).toBe(3);
  });

  it('is checked again, and the turn fails with the reason where its weights are wrong', async () => {
    const wrong = new CollectorError('WEIGHTS_DIFFER', 'the logprobs differ');
    const requireAgain = vi.fn(() => Promise.reject(wrong));
    const check = { require: () => Promise.resolve(), requireAgain } as unknown as WeightCheck;
    const { server, alarms, turn, serve } = open(kind, check);
    await serve(2);
    server.restart();
    for (let n = 0; n < 3; n++) await expect(turn()).rejects.toBe(wrong);
    expect(alarms).toEqual(new Array(3).fill('the logprobs differ'));
    requireAgain.mockImplementation(() => Promise.resolve() as Promise<never>);
    expect(await turn()).toBe(2);
  });

  it('is asked once for a turn that is under way, or asked for, while the next version comes', async () => {
    const { server, turn, serve } = open(kind);
    await serve(2);
    let numTurns = 0;
    server.onTurn = async () => {
      numTurns++;
      await new Promise((resolve) => setTimeout(resolve, 20));
    };
    const before = [turn(), turn()];
    await new Promise((resolve) => setImmediate(resolve));
    const serving = serve(3);
    const meanwhile = [turn(), turn()];
    await serving;
    for (const token of await Promise.all([...before, ...meanwhile])) expect([2, 3]).toContain(token);
    expect(numTurns).toBe(4);
  });

  it('gets weights again that it lost while they were delivered', async () => {
    const { server, turn, serve } = open(kind);
    await serve(2);
    const deliver = server.deliver.bind(server);
    vi.spyOn(server, 'deliver').mockImplementationOnce(async (files) => {
      await deliver(files);
      server.restart();
      throw new EndpointError('WEIGHTS_NOT_TAKEN', 'the server says that it serves no version');
    });
    await serve(3);
    expect(await turn()).toBe(3);
  });

  it('is checked again, and the turn fails with the reason where its weights are wrong', async () => {
    const wrong = new Error('the logprobs differ');
    const check = {
      require: () => Promise.resolve(),
      requireAgain: () => Promise.reject(wrong),
    } as unknown as WeightCheck;
    const { server, turn, serve } = open(kind, check);
    await serve(2);
    server.restart();
    await expect(turn()).rejects.toBe(wrong);
  });
});

describe('a server whose weights are watched', () => {
  it('may get later weights from another collector of the run, and its turns are then of those', async () => {
    const { server, policies, engine, losses, serve } = open('all weights of vLLM');
    await serve(2);
    await server.deliver({ name: 'retrace-run-5', directory: '' });
    const { tokenIds, versions } = await engine.generate({ model: 'tiny' } as GenerationRequest);
    expect([tokenIds[0], versions]).toEqual([5, [{ version: 'retrace-run-5', start: 0, end: 1 }]]);
    expect([losses, policies.newest.policyVersion]).toEqual([[], 2]);
  });

  it('gets adapters again that turns under way name, although it has the newest', async () => {
    const { server, engine, serve } = open('adapters of vLLM');
    await serve(2);
    await serve(3);
    server.restart();
    await server.deliver({ name: 'retrace-run-3', directory: '' });
    const { tokenIds } = await engine.generate({ model: 'retrace-run-2' } as GenerationRequest);
    expect(tokenIds[0]).toBe(2);
  });

  it('that has lost them when the next version comes says so', async () => {
    for (const kind of ['adapters of vLLM', 'all weights of vLLM', 'all weights of SGLang'] as const) {
      const { server, losses, turn, serve } = open(kind);
      await serve(2);
      server.restart();
      await serve(3);
      expect([losses, await turn()]).toEqual([[3], 3]);
    }
  });

  it('gets the weights of two versions again where turns that began earlier ask for the older', async () => {
    const { server, engine, serve } = open('adapters of vLLM');
    await serve(2);
    await serve(3);
    server.restart();
    const { tokenIds } = await engine.generate({ model: 'retrace-run-2' } as GenerationRequest);
    expect(tokenIds[0]).toBe(2);
  });

  it('passes a refusal on that is not for its weights', async () => {
    const { server, turn, serve } = open('adapters of vLLM');
    await serve(2);
    const refusal = new EndpointError('HTTP_STATUS', 'HTTP 404: no such route', { status: 404 });
    server.onTurn = () => Promise.reject(refusal);
    await expect(turn()).rejects.toBe(refusal);
  });

  it('is given up where it forgets them during each turn', async () => {
    const { server, turn, serve } = open('all weights of vLLM');
    await serve(2);
    server.onTurn = () => {
      server.restart();
    };
    await expect(turn()).rejects.toMatchObject({ code: 'WEIGHTS_NOT_TAKEN' });
  });

  it('keeps no adapter of a run that has ended', async () => {
    const { server, policies, serve } = open('adapters of vLLM');
    await serve(2);
    await serve(3);
    await policies.close();
    expect(await server.serving('retrace-run-3')).toBeNull();
    expect(await server.serving('retrace-run-2')).toBeNull();
  });
});
