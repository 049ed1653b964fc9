import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Pcg32 } from '@retrace/random';
import type { StepResult } from '../environment.js';
import { describeEnvironmentContract } from '../testing/environment-contract.js';
import { measureSuccess, playTranscript } from '../testing/episodes.js';
import { drawLevel, GRID_FAMILIES, type GridFamilyName } from './draw-level.js';
import { grid, gridSmall, gridSpec } from './index.js';
import type { LevelTask } from './level.js';
import { only } from './level-builder.js';
import { makeMove } from './moves.js';
import { RoomGrid } from './room-grid.js';

describeEnvironmentContract(grid);

const TASK: LevelTask = {
  family: 'unlock',
  rules: 'retrace',
  roomSize: 6,
  walls: ['######', '#....#', '#....#', '#....#', '#....#', '######'],
  things: [
    ['ball', 'red', 1, 1, null],
    ['ball', 'red', 3, 3, null],
    ['key', 'blue', 2, 4, null],
  ],
  agent: [1, 3, 0],
  carrying: -1,
  mission: only(['put', 'blue key', 'red ball', false]),
  maxMoves: 72,
};

function play(
  changes: Partial<LevelTask>,
  ...actions: readonly string[]
): { world: RoomGrid; results: StepResult[] } {
  const world = new RoomGrid();
  world.reset({ task: { ...TASK, ...changes }, seed: 0 });
  return { world, results: actions.map((action) => world.step(action)) };
}

describe('grid', () => {
  it('tells goal, objects from near to far with numbers, walls, hands and actions as AgentGym does', () => {
    const world = new RoomGrid();
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

  it('picks up, drops beside, and pays 1 − 0.9 · moves / most moves', () => {
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
    expect(results[0].observation.anchor).toBe(new RoomGrid().reset({ task: { ...TASK }, seed: 0 }).anchor);
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
      mission: only(['pick up', 'red ball', null, false]),
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
    ); // oxfmt-ignore
    expect(rest.length).toBe(6);
    expect(world.gridState.carrying).toBe(1);
  });

  it('walks a path as its moves one by one do', () => {
    const random = new Pcg32(6);
    let numPaths = 0;
    for (let index = 0; index < 60; index++) {
      const world = new RoomGrid();
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
    ['task.mission', { mission: only(['open', 'green door', null, false]) }],
    ['task.carrying', { carrying: 7 }],
    ['task.rules', { rules: 'minigrid' as 'retrace' }],
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

const DOORS: Partial<LevelTask> = {
  roomSize: 6,
  walls: ['######', '#....#', '#....#', '......', '#....#', '######'],
  things: [
    ['door', 'red', 0, 3, 'closed'],
    ['door', 'blue', 5, 3, 'closed'],
  ],
  agent: [2, 3, 2],
  mission: {
    parts: [[['open', 'red door', null, true]], [['open', 'blue door', null, true]]],
    order: 'then',
  },
};

describe('rules that end a task', () => {
  it('ends an action with the move that solves the task; AgentGym goes on and keeps the success only if the last move has it', () => {
    const mission = only(['go to', 'red ball', null, false]);
    const changes = { things: [['ball', 'red', 4, 3, null]] as const, mission };
    // Two forward to face the ball, which is the goal; AgentGym picks it up with a third move, and the place where it was still counts.
    const ours = play(changes, 'pickup red ball 1');
    expect(ours.world.gridState).toMatchObject({ numMoves: 2, carrying: -1 });
    expect(ours.results[0]).toMatchObject({ terminated: true, reward: 1 - (0.9 * 2) / 72 });
    const theirs = play({ ...changes, rules: 'agentgym' }, 'pickup red ball 1');
    expect(theirs.world.gridState).toMatchObject({ numMoves: 3, carrying: 0 });
    expect(theirs.results[0]).toMatchObject({ terminated: true, reward: 1 - (0.9 * 3) / 72 });
  });

  it('ends the episode with a success that took long; AgentGym says that the task is completed and goes on', () => {
    const changes = { things: [['ball', 'red', 4, 3, null]] as const, mission: only(['go to', 'red ball', null, false]), maxMoves: 3 };
    const ours = play(changes, 'go to red ball 1').results[0];
    expect(ours).toMatchObject({ terminated: true, success: true, reward: 1 - (0.9 * 2) / 3 });
    const theirs = play({ ...changes, rules: 'agentgym' }, 'go to red ball 1').results[0];
    expect(theirs).toMatchObject({ terminated: false, success: null, reward: 1 - (0.9 * 2) / 3 });
    expect(theirs.observation.text).toContain('The task is completed.');
  }); // oxfmt-ignore

  it('fails a strict task by the wrong door, and by the right doors one after the other only under the rules of AgentGym', () => {
    const turnRound = ['turn left', 'turn left'];
    const wrong = play(DOORS, ...turnRound, 'toggle and go through blue closed door 1').results[2];
    expect(wrong).toMatchObject({ terminated: true, success: false, reward: 0 });
    expect(wrong.observation.text).toContain('The task has failed.');
    const inOrder = ['go to red closed door 1', 'toggle', ...turnRound, 'go to blue closed door 1', 'toggle'];
    expect(play(DOORS, ...inOrder).results[5]).toMatchObject({ terminated: true, success: true });
    const theirs = play({ ...DOORS, rules: 'agentgym' }, ...inOrder).results;
    expect(theirs[1].observation.text).toContain('The task is completed.');
    expect(theirs[1]).toMatchObject({ terminated: false, reward: 0 });
    expect(theirs[5]).toMatchObject({ terminated: true, success: true });
  });

  it('opens a box with toggle, which AgentGym does not offer, and takes out what is in it', () => {
    const changes: Partial<LevelTask> = {
      things: [
        ['box', 'grey', 2, 3, null],
        ['key', 'red', 2, 3, 'boxed'],
      ],
      mission: only(['pick up', 'box', null, false]),
    };
    const { world, results } = play(changes, 'toggle', 'pickup red key 1');
    expect(results[0].observation.text).toContain('There is a red key 1 right in front of you 1 steps away.');
    expect(results[0].observation.text).not.toContain('grey box');
    expect(world.gridState.carrying).toBe(1);
    expect(play({ ...changes, rules: 'agentgym' }, 'toggle').results[0].actionValid).toBe(false);
  });

  it('reads descriptions by where things stood at the start, and the order of two parts', () => {
    const changes: Partial<LevelTask> = {
      mission: {
        parts: [[['go to', 'ball on your left', null, false]], [['go to', 'blue object', null, false]]],
        order: 'after',
      },
    };
    expect(new RoomGrid().reset({ task: { ...TASK, ...changes }, seed: 0 }).text).toContain(
      'Your goal: go to the ball on your left and go to the blue object\n',
    );
    const doneAfter = (...actions: readonly string[]) =>
      play(changes, ...actions).world.gridState.progress.isDone;
    // Of the balls only that at (1, 1), the second, is to the left; the key comes first, since it follows `after you`.
    expect(doneAfter('go to red ball 2')).toEqual([false, false]);
    expect(doneAfter('go to blue key 1')).toEqual([false, true]);
  });
});

describe('agents and tasks of grid', () => {
  it('draws every family', () => {
    const families = new Set<string>();
    for (let index = 0; index < 300; index++) {
      families.add(grid.familyOf?.(grid.sampleTask({ split: 'test', index, seed: 1 }).task) ?? '');
    }
    expect([...families].sort()).toEqual([...GRID_FAMILIES].sort());
  });

  it('draws only the families that it is made of', () => {
    const families = ['open-red-door', 'go-to-obj-s6'] as const;
    const small = gridSpec({ name: 'grid-two', description: 'two families', families });
    for (let index = 0; index < 20; index++) {
      const { task } = small.sampleTask({ split: 'train', index, seed: 1 });
      expect(families).toContain(small.familyOf?.(task));
    }
    expect(() => gridSpec({ name: 'grid-none', description: 'none', families: [] })).toThrow(
      'families are []',
    );
    expect(() => gridSpec({ name: 'grid-none', description: '', families, maxSteps: 0 })).toThrow(
      'maxSteps is 0',
    );
  });

  it('has a small variant of three families in one room, cut after 8 actions', async () => {
    const { task, seed } = gridSmall.sampleTask({ split: 'test', index: 0, seed: 1 });
    const world = gridSmall.create();
    await world.reset({ task, seed });
    let numSteps = 1;
    while (!(await world.step('check available actions')).truncated) numSteps += 1;
    expect(numSteps).toBe(8);
    expect(await measureSuccess(gridSmall, 'expert', 100)).toBeGreaterThan(0.97);
    expect(await measureSuccess(gridSmall, 'random', 100)).toBeLessThan(0.6);
  });

  it.each(GRID_FAMILIES)('is solved by the expert in levels of %s', (family) => {
    expect(solves(family, 0)).toBe(true);
  });

  it('is solved by random actions in less than half of the tasks', async () => {
    const random = await measureSuccess(grid, 'random', 60);
    expect(random).toBeGreaterThan(0.1);
    expect(random).toBeLessThan(0.6);
  });

  it('gives the same bytes for the same seeds as when this was written', async () => {
    const digest = createHash('sha256')
      .update(await playTranscript(grid, 20))
      .digest('hex');
    expect(digest).toBe('034842b90434808f488eb5194d2677766d0649c6610e5a5dea04d38c17fedada');
  });
});

/** Whether the expert solves a level that is drawn from its family. */
function solves(family: GridFamilyName, index: number): boolean {
  const random = new Pcg32(index + 100);
  const world = grid.create() as RoomGrid;
  const expert = grid.agents.find(({ name }) => name === 'expert');
  let observation = world.reset({ task: { ...drawLevel(random, family) }, seed: 0 });
  for (;;) {
    const result = world.step(expert?.act(world, observation, () => random.nextFloat()) ?? '');
    if (result.success !== null) return result.success;
    observation = result.observation;
  }
}
