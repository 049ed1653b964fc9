import { describe, expect, it } from 'vitest';
import { Pcg32 } from '@retrace/random';
import { DIRECTIONS } from '../grid/directions.js';
import { describeEnvironmentContract } from '../testing/environment-contract.js';
import { hashEpisodes } from '../testing/hash-episodes.js';
import { requireAgent, playEpisode } from '../testing/play.js';
import { lmrlMaze, maze } from './index.js';
import { distancesToGoal, parseMazeTask } from './maze-map.js';
import { Maze } from './maze.js';

describeEnvironmentContract(maze);
describeEnvironmentContract(lmrlMaze);

const ROWS = ['#####', '#S__#', '#_#_#', '#__G#', '#####'];

function started(rows: readonly string[] = ROWS): Maze {
  const environment = new Maze();
  environment.reset({ task: { maze: [...rows] }, seed: 0 });
  return environment;
}

/** A maze of LMRL-Gym with the start at a row and column. */
function lmrlRows(row: number, column: number): string[] {
  const { task } = lmrlMaze.sampleTask({ split: 'train', index: 0, seed: 1 });
  const rows = (task as { maze: string[] }).maze.map((text) => [...text.replace('S', '_')]);
  rows[row][column] = 'S';
  return rows.map((cells) => cells.join(''));
}

describe('Maze', () => {
  // Sentences as LMRL-Gym and AgentGym print them for these cells.
  it.each([
    [1, 1, 'There are walls to your left, above you, below you.', '1, 1.'],
    [5, 7, 'There are walls above you, below you.', '5, 7.'],
    [5, 6, 'There is a wall above you.', '5, 6.'],
    [5, 9, 'There are walls to your right, below you.', '5, 9.'],
    [1, 11, 'There are walls to your right, above you, below you.', '1, 1 1.'],
  ])("describes row %i, column %i of LMRL-Gym's maze in its sentences", (row, column, walls, position) => {
    const { text } = new Maze().reset({ task: { maze: lmrlRows(row, column) }, seed: 0 });
    expect(text).toBe(
      `The goal is at position 8, 6. Your current position is at position ${position} ${walls}`,
    );
  });

  it('says so where no wall is near', () => {
    const open = ['#####', '#___#', '#_S_#', '#__G#', '#####'];
    expect(new Maze().reset({ task: { maze: open }, seed: 0 }).text).toContain(
      'There are no walls near you.',
    );
  });

  it('anchors on maze and position, whatever the start was', () => {
    const moved = started().step('right').observation.anchor;
    expect(moved).toBe('#####/#___#/#_#_#/#__G#/#####@7');
    const other = ['#####', '#_S_#', '#_#_#', '#__G#', '#####'];
    expect(new Maze().reset({ task: { maze: other }, seed: 0 }).anchor).toBe(moved);
  });

  it('pays 1 and ends at the goal, and takes the actions of AgentGym', () => {
    const environment = started();
    const results = ['move down', 'Action: move down', 'right', 'RIGHT'].map((action) =>
      environment.step(action),
    );
    expect(results.map(({ reward, parsedAction }) => [reward, parsedAction])).toEqual([
      [0, 'down'],
      [0, 'down'],
      [0, 'right'],
      [1, 'right'],
    ]);
    expect(results[3]).toMatchObject({ rewardNames: ['goal'], terminated: true, success: true });
  });

  it('keeps the player in place at a wall, as a valid move, and cuts the episode at the fiftieth', () => {
    const environment = started();
    const results = Array.from({ length: 50 }, () => environment.step('up'));
    expect(environment.position).toBe(6);
    expect(results[0]).toMatchObject({ actionValid: true, reward: 0 });
    expect(results[48]).toMatchObject({ truncated: false, success: null });
    expect(results[49]).toMatchObject({ truncated: true, success: false });
  });

  it.each<[string, unknown]>([
    ['be 3 to 40 rows', ['###', '#S#']],
    ['be 3 to 40 rows', ROWS.map((row) => row.replaceAll('_', ' '))],
    ['be 3 to 40 rows', [...ROWS, '####']],
    ['hold one S and one G', ROWS.map((row) => row.replace('S', '_'))],
    ['have walls all around', ['#_###', ...ROWS.slice(1)]],
    ['have a way from S to G', ['#####', '#S#_#', '###_#', '#__G#', '#####']],
  ])('refuses a maze that does not %s', (rule, rows) => {
    expect(() => new Maze().reset({ task: { maze: rows } as never, seed: 0 })).toThrowError(
      expect.objectContaining({
        code: 'INVALID_TASK',
        message: expect.stringContaining(rule) as string,
      }) as Error,
    );
  });
});

describe("LMRL-Gym's maze", () => {
  it('is 10 rows of 13 with 26 open cells, and starts on each of the 25 that are not the goal', () => {
    const starts = new Set<number>();
    for (let index = 0; index < 500; index++) {
      const { task } = lmrlMaze.sampleTask({ split: 'test', index, seed: 1 });
      const { width, walls, start, goal } = parseMazeTask(task);
      expect([width, walls.length, goal]).toEqual([13, 130, 8 * 13 + 6]);
      expect(walls.filter((wall) => wall === 0)).toHaveLength(26);
      starts.add(start);
    }
    expect(starts.size).toBe(25);
  });
});

describe('drawn mazes', () => {
  const tasks = Array.from({ length: 300 }, (_, index) =>
    parseMazeTask(maze.sampleTask({ split: 'train', index, seed: 3 }).task),
  );

  it('join all open cells, and need 4 to 30 moves', () => {
    for (const map of tasks) {
      const distances = distancesToGoal(map);
      expect(
        distances.filter((distance, cell) => map.walls[cell] === 0 && !Number.isFinite(distance)),
      ).toEqual([]);
      expect(distances[map.start]).toBeGreaterThanOrEqual(4);
      expect(distances[map.start]).toBeLessThanOrEqual(30);
    }
  });

  it('have a loop in some mazes and none in others: as many passages as rooms less one without', () => {
    const numLoops = tasks.map(({ walls }) => walls.filter((wall) => wall === 0).length - (16 + 15));
    expect(Math.min(...numLoops)).toBe(0);
    expect(Math.max(...numLoops)).toBeGreaterThan(0);
  });

  it('move as an independent model on rows of characters says', () => {
    const random = new Pcg32(8);
    for (let index = 0; index < 60; index++) {
      const { task } = maze.sampleTask({ split: 'test', index, seed: 3 });
      const rows = (task as { maze: string[] }).maze;
      const environment = started(rows);
      let row = rows.findIndex((text) => text.includes('S'));
      let column = rows[row].indexOf('S');
      for (let step = 0; step < 50; step++) {
        const move = DIRECTIONS[random.nextBelow(4)];
        const [dr, dc] = { up: [-1, 0], down: [1, 0], left: [0, -1], right: [0, 1] }[move];
        if (rows[row + dr][column + dc] !== '#') [row, column] = [row + dr, column + dc];
        const result = environment.step(move);
        const atGoal = rows[row][column] === 'G';
        expect([environment.position, result.terminated]).toEqual([row * 9 + column, atGoal]);
        if (atGoal) break;
      }
    }
  });

  it('never share walls and goal between splits', () => {
    const seen = new Map<string, string>();
    for (const split of ['train', 'validation', 'test'] as const) {
      for (let index = 0; index < 400; index++) {
        const { walls, goal } = parseMazeTask(maze.sampleTask({ split, index, seed: index % 5 }).task);
        const content = `${walls.join('')}${goal}`;
        expect(seen.get(content) ?? split).toBe(split);
        seen.set(content, split);
      }
    }
  });
});

describe('the expert of mazes', () => {
  it.each([maze, lmrlMaze])('takes as many moves as the shortest way has: $name', async (spec) => {
    for (let index = 0; index < 100; index++) {
      const sampled = spec.sampleTask({ split: 'test', index, seed: 2 });
      const map = parseMazeTask(sampled.task);
      const episode = await playEpisode(spec.create(), {
        ...sampled,
        maxSteps: spec.maxSteps,
        agent: requireAgent(spec, 'expert'),
        random: () => 0.5,
      });
      expect(episode.results.at(-1)?.success).toBe(true);
      expect(episode.actions).toHaveLength(distancesToGoal(map)[map.start]);
    }
  });
});

describe('tasks and episodes of mazes', () => {
  it.each([
    ['maze', '1f14b501f3fce9d54c1b736bcffd2c280e454146a8b744b8c7de8780ba98bf4d'],
    ['lmrl-maze', '2b5da47539878c6078f5a8b64a1c2c0c180d6af118dd169f692a4c9aaf8cb66b'],
  ])('are the same bytes on every machine and in every version: %s', async (name, expected) => {
    expect(await hashEpisodes(name, 40)).toBe(expected);
  });
});
