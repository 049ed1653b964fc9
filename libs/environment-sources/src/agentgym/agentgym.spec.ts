import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { AgentGymAdapter } from './agentgym-adapter.js';
import { agentGymAction, afterLabel, labelledOrWhole, sqlBlock } from './actions.js';
import { openEnvironment } from '../open-environment.js';
import { findFamily } from './families.js';

type Body = Readonly<Record<string, unknown>>;
type Answers = Readonly<Record<string, ((body: Body) => unknown) | undefined>>;

let server: Server | null = null;

/** Plays a server of ours that answers as the environment's own does (its source: WooooDyy/AgentGym 3ef9235), and records what it was asked. */
async function serve(answers: Answers): Promise<{ url: string; asked: (readonly [string, Body])[] }> {
  const asked: (readonly [string, Body])[] = [];
  const made = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const path = request.url ?? '';
      const body = JSON.parse(text || '{}') as Body;
      asked.push([path, body]);
      const answer = answers[path];
      response.statusCode = answer ? 200 : 404;
      response.end(JSON.stringify(answer ? answer(body) : { detail: 'Not Found' }));
    });
  });
  server = made;
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(made.address() as AddressInfo).port}`, asked };
}

describe('AgentGymAdapter, on servers of ours that answer as the environments do', () => {
  afterEach(async () => {
    await new Promise((resolve) => server?.close(resolve) ?? resolve(null));
    server = null;
  });

  const open = (family: string, url: string) => new AgentGymAdapter(findFamily(family)).open(url);

  it('sciworld: the reward is the change of its score, so that the return is the score', async () => {
    const scores = [10, 40, 100];
    const { url } = await serve({
      '/create': () => ({ id: 3 }),
      '/reset': () => ({
        ...{
          task_name: 'boil',
          task_description: 'Task Description: boil water.',
          observation: 'A kitchen.',
        },
        ...{ reward: 0, score: 0, done: false },
      }),
      '/close': () => true,
      '/step': () => ({ observation: 'ok', reward: 7, score: scores.shift(), done: scores.length === 0 }),
    });
    const session = await open('sciworld', url);
    await session.reset({ task: { index: 5 }, seed: 1 });
    const results = [await session.step('look'), await session.step('look'), await session.step('look')];
    expect(results.map(({ reward }) => reward)).toEqual([10, 30, 60]);
    expect(results.map(({ success }) => success)).toEqual([null, null, true]);
    await session.close();
  });

  it('webshop: instances are bare numbers, resets are lists, and no close is sent', async () => {
    const { url, asked } = await serve({
      '/create': () => 12,
      '/reset': () => ['Instruction: buy a cup [SEP] Search', null],
      '/available_actions?env_idx=12': () => ({ has_search_bar: true, clickables: ['search', 'help'] }),
      '/step': () => ({ state: 'Thank you', reward: 0.5, done: true, info: null }),
    });
    const session = await open('webshop', url);
    expect(await session.reset({ task: { index: 4 }, seed: 1 })).toMatchObject({
      text: 'Instruction: buy a cup [SEP] Search',
      legalActions: ['search[<your query>]', 'click[help]'],
    });
    const result = await session.step('Thought: cheap\nAction: click[Buy Now]');
    expect(result).toMatchObject({
      observation: { text: 'Thank you' },
      reward: 0.5,
      terminated: true,
      success: false,
    });
    await session.close();
    expect(asked).toEqual([
      ['/create', {}],
      ['/reset', { env_idx: 12, session_id: 4 }],
      ['/available_actions?env_idx=12', {}],
      ['/step', { env_idx: 12, action: 'click[Buy Now]' }],
    ]);
  });

  it('sqlgym: keeps no info, which holds the solution, and plays at most 8 at a time', async () => {
    const { url, asked } = await serve({
      '/create': () => 0,
      '/reset': () => ['How many?', null],
      '/step': () => ({ state: '[(3,)]', reward: 1, done: true, info: { query: 'SELECT 3' } }),
    });
    const session = await open('sqlgym', url);
    await session.reset({ task: { index: 9 }, seed: 1 });
    const result = await session.step('So:\n```sql\nSELECT count(*) FROM t\n```');
    expect(result).toMatchObject({ success: true, info: null });
    expect(asked.at(-1)).toEqual(['/step', { env_idx: 0, action: 'SELECT count(*) FROM t' }]);
    expect(findFamily('sqlgym').maxEpisodes).toBe(8);
  });

  it('weather: the task is told at create and at reset, and an observation is a bare text', async () => {
    const { url, asked } = await serve({
      '/create': () => 0,
      '/reset': () => 'Is it warm?',
      '/step': () => ({}),
    });
    const session = await open('weather', url);
    expect((await session.reset({ task: { index: 7 }, seed: 1 })).text).toBe('Is it warm?');
    expect(asked).toEqual([
      ['/create', { id: 7 }],
      ['/reset', { env_idx: 0, id: 7 }],
    ]);
    await expect(session.step('anything')).rejects.toMatchObject({
      code: 'PROTOCOL_VIOLATION',
      message: 'AgentGym: step: reward is undefined, must be a finite number',
    });
  });

  it('alfworld lists its actions; maze and wordle have a path of their own', async () => {
    const { url, asked } = await serve({
      '/create': () => ({ id: 1 }),
      '/reset': () => ({ id: 1, observation: 'A room.', available_actions: ['look'], task_type: 'pick' }),
      '/maze/create': () => ({ id: 0 }),
      '/maze/reset': () => ({ observation: 'At 1, 1' }),
    });
    const alfworld = await open('alfworld', url);
    expect((await alfworld.reset({ task: { index: 2 }, seed: 1 })).legalActions).toEqual(['look']);
    expect(asked.at(-1)).toEqual(['/reset', { id: 1, world_type: 'Text', game: 2 }]);
    const maze = await open('maze', url);
    expect((await maze.reset({ task: { index: 3 }, seed: 1 })).text).toBe('At 1, 1');
  });

  it('an error that comes with 200 is an error', async () => {
    const { url } = await serve({ '/create': () => ({ id: 0 }), '/reset': () => ({ error: '0' }) });
    const session = await open('babyai', url);
    await expect(session.reset({ task: { index: 2 }, seed: 1 })).rejects.toMatchObject({
      code: 'SERVER_REFUSED',
      message: `reset on ${url}/: 0`,
    });
  });

  it('textcraft: two actions in a text cost the turn, and the server is not asked', async () => {
    const { url, asked } = await serve({
      '/create': () => ({ id: 0 }),
      '/reset': () => ({ observation: 'Craft' }),
    });
    const session = await open('textcraft', url);
    await session.reset({ task: { index: 2 }, seed: 1 });
    const result = await session.step('Action: a\nAction: b');
    expect(result).toMatchObject({ actionValid: false, parsedAction: null, reward: 0, terminated: false });
    expect(asked).toHaveLength(2);
  });

  it('a family that is none is refused with the known ones', () => {
    expect(() => findFamily('minecraft')).toThrow('got "minecraft", must be one of textcraft, babyai, maze');
  });
});

it.each([
  [agentGymAction, 'Thought: x\nAction: get 1 oak_log!', 'get 1 oaklog'],
  [agentGymAction, 'no label', ''],
  [labelledOrWhole, 'get 1 log\nmore', 'get 1 log'],
  [afterLabel, 'Action: move up\n', 'move up'],
  [sqlBlock, 'SELECT 1', 'SELECT 1'],
] as const)('%o finds the action in %j', (rule, text, action) => {
  expect(rule(text)).toBe(action);
});

describe('openEnvironment', () => {
  afterEach(async () => {
    await new Promise((resolve) => server?.close(resolve) ?? resolve(null));
    server = null;
  });

  it('takes the text of an observation as its anchor where the recipe says so, and none otherwise', async () => {
    const { url } = await serve({
      '/create': () => ({ id: 1, observation: 'start', done: false, reward: 0 }),
      '/reset': () => ({ id: 1, observation: 'Goal: craft stick.', done: false, reward: 0 }),
      '/step': () => ({ observation: 'Got 1 planks', reward: 0, done: false }),
      '/close': () => true,
    });
    const common = { protocol: 'agentgym', family: 'textcraft', urls: [url] } as const;
    for (const anchor of ['observation', 'environment'] as const) {
      const { spec, close } = await openEnvironment({ name: 'textcraft', server: { ...common, anchor } });
      const environment = spec.create();
      const first = await environment.reset({ task: { index: 1 }, seed: 1 });
      const { observation } = await environment.step('get 1 planks');
      const texts = anchor === 'observation' ? ['Goal: craft stick.', 'Got 1 planks'] : [null, null];
      expect([first.anchor, observation.anchor]).toEqual(texts);
      expect(spec.offersAnchors).toBe(anchor === 'observation');
      await environment.close();
      await close();
    }
  });
});
