import { describe, expect, it } from 'vitest';
import { Pcg32 } from '@retrace/random';
import type { StepResult } from '../environment.js';
import { DIRECTIONS } from '../grid/directions.js';
import { describeEnvironmentContract } from '../testing/environment-contract.js';
import { hashEpisodes } from '../testing/hash-episodes.js';
import { drawRoom } from './draw-room.js';
import { sokoban, sokobanSpec, sokobanTwoBoxes } from './index.js';
import { formatRoom, parseSokobanTask } from './sokoban-room.js';
import type { Sokoban } from './sokoban.js';
import { solveRoom } from './solve-room.js';

describeEnvironmentContract(sokoban);
describeEnvironmentContract(sokobanTwoBoxes);

const ROOM = ['######', '#____#', '#@$_.#', '#__#_#', '#____#', '######'];

function playMoves(room: readonly string[], ...moves: readonly string[]): StepResult[] {
  const environment = sokoban.create();
  void environment.reset({ task: { room }, seed: 0 });
  return moves.map((move) => environment.step(move) as StepResult);
}

/** The rules once more, on rows of characters: the independent model that the environment is compared with. */
function moveOnRows(rows: readonly string[], move: string): string[] {
  const grid = rows.map((row) => [...row]);
  const row = grid.findIndex((cells) => cells.some((cell) => '@+'.includes(cell)));
  const column = grid[row].findIndex((cell) => '@+'.includes(cell));
  const [dr, dc] = { up: [-1, 0], down: [1, 0], left: [0, -1], right: [0, 1] }[move] ?? [0, 0];
  const enter = { _: '@', '.': '+', $: '@', '*': '+' };
  const leave = { '@': '_', '+': '.' };
  const put = { _: '$', '.': '*' };
  const next = grid[row + dr][column + dc];
  if (next === '#') return [...rows];
  if (next === '$' || next === '*') {
    const beyond = grid[row + 2 * dr][column + 2 * dc];
    if (beyond !== '_' && beyond !== '.') return [...rows];
    grid[row + 2 * dr][column + 2 * dc] = put[beyond];
  }
  grid[row + dr][column + dc] = enter[next as keyof typeof enter];
  grid[row][column] = leave[grid[row][column] as keyof typeof leave];
  return grid.map((cells) => cells.join(''));
}

describe('Sokoban', () => {
  it('describes targets, walls, boxes and the player in words, and anchors on the drawn room', () => {
    expect(sokoban.create().reset({ task: { room: ROOM }, seed: 0 })).toEqual({
      text: 'goal_e3 wall_d4 box_c3 you_b3',
      anchor: '######/#____#/#@$_.#/#__#_#/#____#/######',
      legalActions: ['up', 'down', 'left', 'right'],
    });
  });

  it('pays -0.1 a move, 1 for the box on its target and 10 for the solved room: 10.9 for the last push', () => {
    const [first, last] = playMoves(ROOM, 'right', 'right');
    expect(first).toMatchObject({
      reward: -0.1,
      rewardNames: ['step'],
      terminated: false,
      success: null,
    });
    expect(last).toMatchObject({
      rewardNames: ['step', 'boxOn', 'solved'],
      rewardValues: [-0.1, 1, 10],
      terminated: true,
      success: true,
    });
    expect(last.reward).toBeCloseTo(10.9, 12);
  });

  it('takes 1 back for a box pushed off its target', () => {
    const room = ['######', '#____#', '#@*_.#', '#_$__#', '#____#', '######'];
    const environment = sokoban.create();
    void environment.reset({ task: { room }, seed: 0 });
    expect(environment.step('right')).toMatchObject({
      rewardNames: ['step', 'boxOff'],
      rewardValues: [-0.1, -1],
    });
  });

  it('neither pushes two boxes nor a box into a wall, and the turn is used', () => {
    const blocked = ['######', '#____#', '#@$$_#', '#_..$#', '#__._#', '######'];
    const [result] = playMoves(blocked, 'right');
    expect(result.observation.anchor).toBe(blocked.join('/'));
    expect(result).toMatchObject({ actionValid: true, reward: -0.1 });
  });

  it('ends an episode as truncated after the last move that it allows', () => {
    const results = playMoves(ROOM, ...new Array<string>(30).fill('left'));
    expect(results[28]).toMatchObject({ truncated: false, success: null });
    expect(results[29]).toMatchObject({ terminated: false, truncated: true, success: false });
  });

  it.each<[string, unknown]>([
    ['be 6 rows of 6', ['######']],
    ['be 6 rows of 6', ROOM.map((row) => row.replace('_', ' '))],
    ['have walls all around', ['#_####', ...ROOM.slice(1)]],
    ['hold one player', ROOM.map((row) => row.replace('@', '_'))],
    ['hold 1 to 3 boxes', ROOM.map((row) => row.replace('$', '_'))],
    ['hold as many targets as boxes', ROOM.map((row) => row.replace('.', '_'))],
    ['have a box that is not on a target', ROOM.map((row) => row.replace('$_.', '*__'))],
  ])('refuses a room that does not %s', (rule, room) => {
    expect(() => sokoban.create().reset({ task: { room } as never, seed: 0 })).toThrowError(
      expect.objectContaining({
        code: 'INVALID_TASK',
        message: expect.stringContaining(rule) as string,
      }) as Error,
    );
  });

  it.each([{ side: 9 }, { numBoxes: 0 }, { maxMoves: 40, maxSteps: 30 }])('refuses the rules %j', (rules) => {
    expect(() => sokobanSpec({ name: 'other', ...rules })).toThrowError(
      expect.objectContaining({ code: 'INVALID_ARGUMENT' }) as Error,
    );
  });
});

describe.each([sokoban, sokobanTwoBoxes])('$name against an independent model of the rules', (spec) => {
  it('agrees on every state of random play, keeps boxes, player, walls and targets, and pays by their sum', () => {
    const random = new Pcg32(4);
    const count = (text: string, characters: string): number =>
      [...text].filter((character) => characters.includes(character)).length;
    for (let index = 0; index < 40; index++) {
      const { task, seed } = spec.sampleTask({ split: 'train', index, seed: 2 });
      const environment = spec.create() as Sokoban;
      environment.reset({ task, seed });
      let rows = (task as { room: string[] }).room;
      for (let step = 0; step < spec.maxSteps; step++) {
        const before = rows.join('/');
        const move = DIRECTIONS[random.nextBelow(4)];
        rows = moveOnRows(rows, move);
        const after = rows.join('/');
        const result = environment.step(move);
        const numOn = count(after, '*');
        const solved = count(after, '$') === 0;
        const reward = -0.1 + (numOn - count(before, '*')) + (solved ? 10 : 0);
        const found = {
          anchor: result.observation.anchor,
          success: result.success,
          numBoxes: count(after, '$*'),
          numTargets: count(after, '.*+'),
          numPlayers: count(after, '@+'),
          walls: after.replaceAll(/[^#/]/g, ' '),
        };
        expect(found).toEqual({
          anchor: after,
          success: solved ? true : step === spec.maxSteps - 1 ? false : null,
          numBoxes: count(before, '$*'),
          numTargets: count(before, '.*+'),
          numPlayers: 1,
          walls: before.replaceAll(/[^#/]/g, ' '),
        });
        expect(result.reward).toBeCloseTo(reward, 12);
        if (result.terminated) break;
      }
    }
  });

  it('finds the shortest solutions, which solve the room in that model', () => {
    for (let index = 0; index < 60; index++) {
      const { task } = spec.sampleTask({ split: 'test', index, seed: 2 });
      const { room, start } = parseSokobanTask(task, 6);
      const rows = (task as { room: string[] }).room;
      const solution = solveRoom(room, start);
      expect(solution).not.toBeNull();
      const solved = (solution ?? []).reduce((at, direction) => moveOnRows(at, DIRECTIONS[direction]), rows);
      expect(solved.join('')).not.toContain('$');
      expect(solution?.length).toBe(fewestMoves(rows));
    }
  });
});

/** Length of the shortest solution by breadth-first search over the drawn rooms of the independent model. */
function fewestMoves(rows: readonly string[]): number {
  const seen = new Set([rows.join('/')]);
  let front = [rows];
  for (let moves = 0; front.length > 0; moves++) {
    if (front.some((room) => !room.join('').includes('$'))) return moves;
    front = front
      .flatMap((room) => DIRECTIONS.map((move) => moveOnRows(room, move)))
      .filter((room) => {
        const isNew = !seen.has(room.join('/'));
        seen.add(room.join('/'));
        return isNew;
      });
  }
  return -1;
}

describe('drawRoom', () => {
  it.each([1, 2, 3])('draws rooms with %i boxes off their targets, solvable in 5 to 12 moves', (numBoxes) => {
    const random = new Pcg32(6);
    for (let index = 0; index < 30; index++) {
      const { room, start } = drawRoom(random, { side: 6, numBoxes, minMoves: 5, maxMoves: 12 });
      const text = formatRoom(room, start).join('');
      expect(text.match(/\$/g)).toHaveLength(numBoxes);
      expect(text).not.toContain('*');
      const solution = solveRoom(room, start);
      expect(solution?.length).toBeGreaterThanOrEqual(5);
      expect(solution?.length).toBeLessThanOrEqual(12);
    }
  });
});

describe('splits of sokoban', () => {
  it('never share walls and targets, so no held-out room was seen from another start', () => {
    const seen = new Map<string, string>();
    for (const split of ['train', 'validation', 'test'] as const) {
      for (let index = 0; index < 400; index++) {
        const { task } = sokoban.sampleTask({ split, index, seed: index % 5 });
        const { room } = parseSokobanTask(task, 6);
        const content = `${room.walls.join('')} ${room.targets.join('')}`;
        expect(seen.get(content) ?? split).toBe(split);
        seen.set(content, split);
      }
    }
  });
});

describe('tasks and episodes of sokoban', () => {
  it.each([
    ['sokoban', '7179c86568f681ba38ef39087c2c34f36a92906fc0ee0c6b6bc14cec7e68912b'],
    ['sokoban-two-boxes', 'bc73dc4e6d0e3a7e4e798f39ef49c652af56392e46cc779ef6002013f31f7217'],
  ])('are the same bytes on every machine and in every version: %s', async (name, expected) => {
    expect(await hashEpisodes(name, 40)).toBe(expected);
  });
});
