import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

type Body = Readonly<Record<string, unknown>>;

/** How a family's server treats instances, from its own source (WooooDyy/AgentGym 3ef9235). */
interface Behavior {
  readonly path?: string;
  /** `id` in an object with errors of HTTP 200, or a bare `env_idx` with errors of HTTP 500. */
  readonly instance: 'id' | 'env_idx';
  readonly resetIndex: string;
  readonly createIndex?: string;
  readonly hasClose: boolean;
  /** Slots after which `create` gives live ones again, in turn. */
  readonly numSlots?: number;
  readonly reset: (index: number) => unknown;
  readonly step: Body;
}

const NAMED = { instance: 'id', hasClose: false } as const;
const INDEXED = { instance: 'env_idx', hasClose: false } as const;
const TOOLS = {
  ...{
    ...INDEXED,
    createIndex: 'id',
    resetIndex: 'id',
    reset: (index: number) => `Now new trial starts. ${index}`,
  },
  step: { observation: 'Observation: ok', reward: 1, done: true },
} as const;
const told = (step: Body = {}) => ({ observation: 'ok', reward: 1, done: true, ...step });

const BEHAVIORS: Readonly<Record<string, Behavior>> = {
  textcraft: {
    ...{ ...NAMED, resetIndex: 'data_idx', hasClose: true, step: told() },
    reset: (index) => ({ observation: `Goal: craft ${index}.`, done: false, reward: 0 }),
  },
  babyai: {
    ...{ ...NAMED, resetIndex: 'data_idx', hasClose: true, step: told({ score: 1 }) },
    reset: (index) => ({
      observation: `Your goal: ${index}`,
      reward: 0,
      score: 0,
      deleted: false,
      done: false,
    }),
  },
  maze: {
    ...{ ...NAMED, path: '/maze', resetIndex: 'game', step: told() },
    reset: (index) => ({ observation: `The goal is ${index}` }),
  },
  wordle: {
    ...{ ...NAMED, path: '/wordle', resetIndex: 'seed', step: told() },
    reset: () => ({ observation: "Let's start Wordle!" }),
  },
  alfworld: {
    ...{ ...NAMED, resetIndex: 'game', step: told({ available_actions: [] }) },
    reset: (index) => ({
      ...{ observation: `Your task is to: ${index}`, available_actions: ['look'], task_type: 'pick/trial' },
    }),
  },
  sciworld: {
    ...{ ...NAMED, resetIndex: 'data_idx', hasClose: true, step: told({ score: 100 }) },
    reset: (index) => ({
      ...{ task_name: 'boil', var_num: index, task_description: `Task Description: boil ${index}.` },
      ...{
        observation: 'This room is called the hallway.',
        reward: 0,
        score: 0,
        deleted: false,
        done: false,
      },
    }),
  },
  webshop: {
    ...{ ...INDEXED, resetIndex: 'session_id', numSlots: 8000 },
    ...{
      reset: (index) => [`Instruction: ${index}`, null],
      step: { state: 'ok', reward: 1, done: true, info: null },
    },
  },
  sqlgym: {
    ...{ ...INDEXED, resetIndex: 'item_id', numSlots: 8 },
    ...{
      reset: (index) => [`Question ${index}`, null],
      step: { state: '[]', reward: 1, done: true, info: {} },
    },
  },
  searchqa: { ...TOOLS, hasClose: true },
  weather: TOOLS,
  movie: TOOLS,
  academia: TOOLS,
  todo: TOOLS,
  sheet: TOOLS,
};

export const SERVED_FAMILIES = Object.keys(BEHAVIORS);

export interface AgentGymServer {
  readonly url: string;
  /** Instances that it holds: those that were made, less those that were closed. */
  numInstances(): number;
  /** Most instances at the same time. */
  readonly most: { instances: number };
  /** Faults that a real server has no answer for: two episodes at a time on an instance. */
  readonly faults: readonly string[];
  /** Index of the task, or the seed, of each reset. */
  readonly resets: readonly unknown[];
  /** Forgets all instances, and counts them from 0 again, as a server does that was restarted. */
  restart(): void;
  close(): Promise<void>;
}

/** Serves a family as its server keeps, reuses and closes instances; an episode ends with its first step. */
export async function serveAgentGym(family: string): Promise<AgentGymServer> {
  const behavior = BEHAVIORS[family];
  const { instance, path = '', resetIndex, createIndex, numSlots = Infinity } = behavior;
  /** Whether an episode is under way on an instance. */
  const instances = new Map<number, boolean>();
  const most = { instances: 0 };
  const faults: string[] = [];
  const resets: unknown[] = [];
  let next = 0;

  const create = (body: Body) => {
    if (createIndex !== undefined && typeof body[createIndex] !== 'number') return undefined;
    const id = next >= numSlots ? next % numSlots : next;
    next += 1;
    if (!instances.has(id)) instances.set(id, false);
    most.instances = Math.max(most.instances, instances.size);
    return instance === 'id' ? { id } : id;
  };
  const answer = (verb: string, body: Body): unknown => {
    if (verb === 'create') return create(body);
    const id = body[instance] as number;
    const isPlaying = instances.get(id);
    if (isPlaying === undefined) return undefined;
    if (verb === 'close' && behavior.hasClose) return instances.delete(id);
    if (verb === 'reset') {
      if (isPlaying) faults.push(`instance ${id} was reset in the middle of an episode`);
      instances.set(id, true);
      resets.push(body[resetIndex]);
      return behavior.reset(body[resetIndex] as number);
    }
    instances.set(id, false);
    return verb === 'step' ? behavior.step : undefined;
  };

  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const url = new URL(request.url ?? '/', 'http://localhost');
      const verb = url.pathname.slice(path.length + 1);
      if (verb === 'available_actions') {
        response.end(JSON.stringify({ has_search_bar: true, clickables: [] }));
        return;
      }
      const body = JSON.parse(text || '{}') as Body;
      const told = answer(verb, body);
      if (told === undefined && instance === 'env_idx') response.statusCode = 500;
      response.end(JSON.stringify(told ?? { error: `The id ${body[instance] as number} is not valid.` }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    ...{ most, faults, resets, numInstances: () => instances.size },
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    restart: () => {
      instances.clear();
      next = 0;
    },
    close: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()),
  };
}
