import { describe, expect, it } from 'vitest';
import { Pcg32 } from '@retrace/random';
import type { StepResult } from '../environment.js';
import { describeEnvironmentContract } from '../testing/environment-contract.js';
import { requireAgent, playEpisode } from '../testing/play.js';
import { FrozenLake } from './frozen-lake.js';
import { fixedLake, frozenLake } from './index.js';
import { NUM_CELLS, distancesToGoal, drawLakeMap, formatLakeMap, parseLakeTask } from './lake-map.js';

describeEnvironmentContract(frozenLake);
describeEnvironmentContract(fixedLake);

const MAP = ['S_O_', '____', '_O__', '__G_'];

function lakeAfter(...actions: readonly string[]): { lake: FrozenLake; results: StepResult[] } {
  const lake = new FrozenLake();
  lake.reset({ task: { map: MAP }, seed: 0 });
  return { lake, results: actions.map((action) => lake.step(action)) };
}

describe('FrozenLake', () => {
  it('describes the map and the player in words, and anchors on map and position', () => {
    const lake = new FrozenLake();
    expect(lake.reset({ task: { map: MAP }, seed: 0 })).toEqual({
      text: 'goal_c4 hole_c1 hole_b3 you_a1',
      anchor: '__O_/____/_O__/__G_@0',
      legalActions: ['left', 'down', 'right', 'up'],
    });
    expect(lake.step('down').observation).toMatchObject({
      text: 'goal_c4 hole_c1 hole_b3 you_a2',
      anchor: '__O_/____/_O__/__G_@4',
    });
  });

  it('gives equal anchors to lakes that differ only in the start', () => {
    const other = new FrozenLake().reset({ task: { map: ['__O_', 'S___', '_O__', '__G_'] }, seed: 0 });
    expect(lakeAfter('down').results[0].observation.anchor).toBe(other.anchor);
  });

  it('pays 1 and terminates at the goal', () => {
    const { results } = lakeAfter('down', 'right', 'right', 'down', 'down');
    expect(results.map((result) => result.reward)).toEqual([0, 0, 0, 0, 1]);
    expect(results[4]).toMatchObject({
      terminated: true,
      truncated: false,
      success: true,
      rewardNames: ['goal'],
      rewardValues: [1],
    });
  });

  it('terminates without reward in a hole', () => {
    const { results } = lakeAfter('right', 'right');
    expect(results[1]).toMatchObject({ reward: 0, terminated: true, truncated: false, success: false });
  });

  it('truncates at the tenth move', () => {
    const { results } = lakeAfter(...new Array<string>(10).fill('up'));
    expect(results[8]).toMatchObject({ terminated: false, truncated: false, success: null });
    expect(results[9]).toMatchObject({ terminated: false, truncated: true, success: false });
  });

  it('terminates, not truncates, when the tenth move reaches the goal', () => {
    const wait = new Array<string>(5).fill('up');
    const { results } = lakeAfter(...wait, 'down', 'right', 'right', 'down', 'down');
    expect(results[9]).toMatchObject({ reward: 1, terminated: true, truncated: false, success: true });
  });

  it('keeps the player on the map: a move over the edge is valid and uses the turn', () => {
    const { lake, results } = lakeAfter('left');
    expect(results[0]).toMatchObject({ reward: 0, actionValid: true, parsedAction: 'left' });
    expect(lake.position).toBe(0);
  });

  it('charges −0.1 for an invalid action, which uses the turn', () => {
    const { lake, results } = lakeAfter('jump');
    expect(results[0]).toMatchObject({
      reward: -0.1,
      rewardNames: ['invalidAction'],
      rewardValues: [-0.1],
      actionValid: false,
      terminated: false,
    });
    expect(lake.position).toBe(0);
  });

  it.each([
    [{ map: ['S___', '____', '____'] }],
    [{ map: ['S___', '____', '____', '___X'] }],
    [{ map: ['S___', '____', '____', '____'] }],
    [{ map: ['SS__', '____', '____', '___G'] }],
  ])('refuses the task %j', (task) => {
    expect(() => new FrozenLake().reset({ task, seed: 0 })).toThrowError(
      expect.objectContaining({
        code: 'INVALID_TASK',
        message: expect.stringContaining('task.map') as string,
      }) as Error,
    );
  });
});

describe('drawLakeMap', () => {
  const rules = { frozenProbability: 0.8, maxMoves: 10 };
  const random = new Pcg32(5);
  const maps = Array.from({ length: 4000 }, () => drawLakeMap(random, rules));

  it('draws solvable maps with start and goal on distinct, frozen cells', () => {
    for (const map of maps) {
      expect(map.start).not.toBe(map.goal);
      expect(map.holes[map.start] + map.holes[map.goal]).toBe(0);
      expect(distancesToGoal(map)[map.start]).toBeLessThanOrEqual(10);
    }
  });

  it('makes slightly less than a fifth of the other cells holes, because only solvable maps remain', () => {
    const numHoles = maps.reduce((sum, map) => sum + map.holes.reduce((a, b) => a + b, 0), 0);
    const fraction = numHoles / (maps.length * (NUM_CELLS - 2));
    expect(fraction).toBeGreaterThan(0.18);
    expect(fraction).toBeLessThan(0.2);
  });

  it('puts start and goal on every cell of some map', () => {
    expect(new Set(maps.map((map) => map.start)).size).toBe(NUM_CELLS);
    expect(new Set(maps.map((map) => map.goal)).size).toBe(NUM_CELLS);
  });

  it('writes text that parseLakeTask reads back as the same map', () => {
    for (const map of maps.slice(0, 100)) expect(parseLakeTask({ map: formatLakeMap(map) })).toEqual(map);
  });
});

describe('distancesToGoal', () => {
  it('goes around holes and marks cells that cannot be reached', () => {
    const map = parseLakeTask({ map: ['S_O_', 'OOOO', '____', '__G_'] });
    // Worked out by hand from the goal at the third cell of the last row.
    expect([...distancesToGoal(map)]).toEqual([
      127, 127, 127, 127, 127, 127, 127, 127, 3, 2, 1, 2, 2, 1, 0, 1,
    ]);
  });
});

describe('baselines of frozen-lake on 4,000 held-out maps', () => {
  const numEpisodes = 4000;
  // learning.md measured the first four on 400 maps. Tolerance: three standard errors of the difference of both.
  it.each([
    ['random', 0.221],
    ['greedy', 0.766],
    ['greedy-avoid', 0.888],
  ])('%s succeeds at %f', async (name, expected) => {
    const variance = expected * (1 - expected);
    const tolerance = 3 * Math.sqrt(variance / 400 + variance / numEpisodes);
    expect(Math.abs((await successOf(name)) - expected)).toBeLessThan(tolerance);
  });

  it('expert always succeeds', async () => {
    expect(await successOf('expert')).toBe(1);
  });

  it('random-vocabulary succeeds less than a quarter as often as random moves', async () => {
    // 4 of its 52 words move, so it has fewer than one useful move in ten; 3 in 100 was measured with 43 words.
    const success = await successOf('random-vocabulary');
    expect(success).toBeGreaterThan(0.01);
    expect(success).toBeLessThan(0.055);
  });

  async function successOf(name: string): Promise<number> {
    const environment = frozenLake.create();
    const random = new Pcg32(9);
    let numSuccesses = 0;
    for (let index = 0; index < numEpisodes; index++) {
      const { results } = await playEpisode(environment, {
        ...frozenLake.sampleTask({ split: 'test', index, seed: 1 }),
        maxSteps: frozenLake.maxSteps,
        agent: requireAgent(frozenLake, name),
        random: () => random.nextFloat(),
      });
      numSuccesses += Number(results[results.length - 1].success);
    }
    return numSuccesses / numEpisodes;
  }
});
