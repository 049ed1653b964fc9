import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { StepResult } from '../environment.js';
import { Pcg32 } from '../random/pcg32.js';
import { describeEnvironmentContract } from '../testing/environment-contract.js';
import { successOf, transcriptOf } from '../testing/episodes.js';
import { GRID_FAMILIES } from './draw-level.js';
import { grid } from './index.js';
import type { LevelTask } from './level.js';
import { makeMove } from './moves.js';
import { RoomGrid } from './room-grid.js';

describeEnvironmentContract(grid);

const TASK: LevelTask = {
  family: 'unlock',
  roomSize: 6,
  walls: ['######', '#....#', '#....#', '#....#', '#....#', '######'],
  things: [
    ['ball', 'red', 1, 1, null],
    ['ball', 'red', 3, 3, null],
    ['key', 'blue', 2, 4, null],
  ],
  agent: [1, 3, 0],
  instructions: [['put', 'blue key', 'red ball']],
  join: 'and',
};

function play(
  changes: Partial<LevelTask>,
  ...actions: readonly string[]
): { world: RoomGrid; results: StepResult[] } {
  const world = new RoomGrid(null);
  world.reset({ task: { ...TASK, ...changes }, seed: 0 });
  return { world, results: actions.map((action) => world.step(action)) };
}

describe('grid', () => {
  it('tells goal, objects from near to far with numbers, walls, hands and actions as AgentGym does', () => {
    const world = new RoomGrid(null);
    // Facing right from (1, 3): the ball at (3, 3) is 2 ahead; the key at (2, 4) is 1 ahead and 1 to the right; the ball at (1, 1) is
    // 0 ahead and 2 to the left. Distances 2, 2, 2: the order is that of rows from the farthest, so ball, key, ball.
    expect(world.reset({ task: { ...TASK }, seed: 0 }).text).toBe(
      'Your goal: put the blue key next to a red ball\n' +
        'In front of you in this room, you can see several objects: ' +
        'There is a red ball 1 right in front of you 2 steps away.  ' +
        'There is a blue key 1 1 steps in front of you and 1 steps to your right.  ' +
        'There is a red ball 2 0 steps in front of you and 2 steps to your left.  ' +
        'The room has walls around you. You are facing a wall 4 steps away. You are not carrying anything.\n' +
        'Available actions: ["turn left", "turn right", "move forward", "pickup red ball 1", "pickup blue key 1", "pickup red ball 2", ' +
        '"go to red ball 1", "go to blue key 1", "go to red ball 2", "check available actions"]',
    );
  });

  it('picks up, drops beside, and pays 1 − 0.9 · moves / (2 walks · 36 cells · 1 room)', () => {
    const { world, results } = play({}, 'pickup blue key 1', 'move forward', 'turn left', 'drop');
    const { numMoves } = world.gridState;
    const last = results[results.length - 1];
    expect(last.terminated).toBe(true);
    expect(last.reward).toBeCloseTo(1 - (0.9 * numMoves) / 72, 12);
    expect(last.observation.text).toContain('\n The task is completed.');
  });

  it.each([
    ['jump', 'The action is not recognized. Please check valid actions.', null],
    ['drop', 'You cannot drop the object, as you are not carrying anything.', 'drop'],
    ['', 'No change in state.', null],
  ])('refuses %j with −0.1 and leaves the state', (action, text, parsedAction) => {
    const { results } = play({}, action);
    expect(results[0]).toMatchObject({ reward: -0.1, actionValid: false, parsedAction });
    expect(results[0].observation.text.split('\n')[0]).toBe(text);
    expect(results[0].observation.anchor).toBe(
      new RoomGrid(null).reset({ task: { ...TASK }, seed: 0 }).anchor,
    );
  });

  it('opens a locked door only with the key of its color, and sees nothing behind a closed one', () => {
    const walls = ['###########', '#....#....#', '#.........#', '#....#....#', '#....#....#', '###########'];
    const things: LevelTask['things'] = [
      ['door', 'blue', 5, 2, 'locked'],
      ['key', 'blue', 1, 4, null],
      ['ball', 'red', 7, 2, null],
    ];
    const level = {
      walls,
      things,
      agent: [4, 2, 0] as const,
      instructions: [['pick up', 'red ball', null]] as const,
    };
    const { results } = play(
      level,
      'toggle and go through blue locked door 1',
      'turn right',
      'turn right',
      'pickup blue key 1',
    );
    expect(results[0]).toMatchObject({ reward: -0.1, actionValid: false });
    expect(results.map(({ observation }) => observation.text).join()).not.toContain('red ball 1');
    const { world, results: rest } = play(
      level,
      'turn right', 'turn right', 'pickup blue key 1', 'turn right', 'turn right', 'toggle and go through blue locked door 1',
    ); // prettier-ignore
    expect(rest.length).toBe(6);
    expect(world.gridState.carrying).toBe(1);
  });

  it('walks a path as its moves one by one do', () => {
    const random = new Pcg32(6);
    let numPaths = 0;
    for (let index = 0; index < 60; index++) {
      const world = new RoomGrid(null);
      void world.reset(grid.sampleTask({ split: 'train', index, seed: 3 }));
      for (let step = 0; step < 8; step++) {
        const actions = [...world.situation.movesByAction].filter(([, moves]) => moves.length > 0);
        const [action, moves] = actions[random.nextBelow(actions.length)];
        const { level } = world.rules;
        const before = world.gridState;
        const { terminated } = world.step(action);
        const after = world.gridState;
        const made = moves.slice(0, after.numMoves - before.numMoves);
        expect(made.reduce((state, move) => makeMove(level, state, move), before)).toEqual(after);
        if (moves.length > 1 && made.length === moves.length) numPaths += 1;
        if (terminated) break;
      }
    }
    expect(numPaths).toBeGreaterThan(50);
  });

  it.each([
    ['task.walls', { walls: ['###'] }],
    ['task.agent', { agent: [1, 1, 0] as const }],
    ['task.things', { things: [['ball', 'pink', 1, 1, null]] as const }],
    ['task.instructions', { instructions: [['open', 'red ball', null]] as const }],
  ])('refuses a task with a fault in %s', (field, changes) => {
    const reset = (): unknown => play(changes);
    expect(reset).toThrowError(
      expect.objectContaining({
        code: 'INVALID_TASK',
        message: expect.stringContaining(field) as string,
      }) as Error,
    );
  });
});

describe('agents and tasks of grid', () => {
  it('draws every family', () => {
    const families = new Set<string>();
    for (let index = 0; index < 150; index++) {
      families.add(grid.familyOf?.(grid.sampleTask({ split: 'test', index, seed: 1 }).task) ?? '');
    }
    expect([...families].sort()).toEqual([...GRID_FAMILIES].sort());
  });

  it('is solved by the expert in 99 of 100 tasks or more; by random actions in less than half', async () => {
    expect(await successOf(grid, 'expert', 200)).toBeGreaterThanOrEqual(0.99);
    const random = await successOf(grid, 'random', 100);
    expect(random).toBeGreaterThan(0.1);
    expect(random).toBeLessThan(0.6);
  });

  it('gives the same bytes for the same seeds as when this was written', async () => {
    const digest = createHash('sha256')
      .update(await transcriptOf(grid, 20))
      .digest('hex');
    expect(digest).toBe('bab45657dd0da4cf46facc08a58631cd55e4605eca8e592898481e75519e89fc');
  });
});
