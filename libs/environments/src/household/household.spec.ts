import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Pcg32 } from '@retrace/random';
import type { StepResult } from '../environment.js';
import { describeEnvironmentContract } from '../testing/environment-contract.js';
import { measureSuccess, playTranscript } from '../testing/episodes.js';
import { ROOM_KINDS, THING_KINDS } from './household-kinds.js';
import type { HouseholdDialect } from './household-rules.js';
import { HOUSEHOLD_FAMILIES, type HouseholdTask } from './household-task.js';
import { HouseholdWorld } from './household.js';
import { drawRooms } from './draw-household.js';
import { household, householdPut, householdSmall, householdSpec } from './index.js';

describeEnvironmentContract(household);

const TASK: HouseholdTask = {
  family: 'cool',
  room: 'kitchen',
  thing: 'apple',
  target: 'diningtable',
  wording: 0,
  receptacles: {
    desk: 1,
    cabinet: 2,
    fridge: 1,
    microwave: 1,
    sinkbasin: 1,
    countertop: 1,
    drawer: 1,
    diningtable: 1,
  },
  things: [
    ['apple', 'countertop 1'],
    ['apple', 'desk 1'],
    ['mug', 'countertop 1'],
    ['knife', 'drawer 1'],
    ['desklamp', 'desk 1'],
  ],
};

interface Play {
  readonly dialect?: HouseholdDialect;
  readonly task?: Partial<HouseholdTask>;
}

function worldOf({ dialect = 'move', task = {} }: Play = {}): HouseholdWorld {
  const world = new HouseholdWorld({ world: 'household', dialect, maxSteps: 50, words: null });
  world.reset({ task: { ...TASK, ...task } as never, seed: 0 });
  return world;
}

function answers(play: Play, ...actions: readonly string[]): StepResult[] {
  const world = worldOf(play);
  return actions.map((action) => world.step(action));
}

const textsOf = (results: readonly StepResult[]): string[] =>
  results.map(({ observation }) => observation.text);

// Expected texts are those of the engine of ALFWorld 0.4.2 and 0.3.5 for such rooms; test/long/household-fidelity compares them at large.
describe('household', () => {
  it('lists the receptacles by kind with the largest number first, and the task', () => {
    const { text, legalActions } = worldOf().reset({ task: TASK as never, seed: 0 });
    expect(text).toBe(
      '-= Welcome to TextWorld, ALFRED! =-\n\nYou are in the middle of a room. Looking quickly around you, you see a cabinet 2, a cabinet 1, ' +
        'a countertop 1, a desk 1, a diningtable 1, a drawer 1, a fridge 1, a microwave 1, and a sinkbasin 1.\n\nYour task is to: put a cool apple in diningtable.',
    );
    expect(legalActions).toEqual([
      'go to cabinet 1', 'go to cabinet 2', 'go to countertop 1', 'go to desk 1', 'go to diningtable 1', 'go to drawer 1', 'go to fridge 1',
      'go to microwave 1', 'go to sinkbasin 1', 'help', 'inventory', 'look',
    ]); // oxfmt-ignore
  });

  it.each([
    ['place', 'put a apple in diningtable', 'put some apple on diningtable'],
    ['place-two', 'put two apple in diningtable', 'find two apple and put them in diningtable'],
    ['clean', 'put a clean apple in diningtable', 'clean some apple and put it in diningtable'],
    ['heat', 'put a hot apple in diningtable', 'heat some apple and put it in diningtable'],
    ['cool', 'put a cool apple in diningtable', 'cool some apple and put it in diningtable'],
    ['examine-in-light', 'look at apple under the desklamp', 'examine the apple with the desklamp'],
  ] as const)('says a task of the family %s in both ways', (family, ...sentences) => {
    const target = family === 'examine-in-light' ? 'desklamp' : 'diningtable';
    const said = [0, 1].map((wording) => {
      const task = { ...TASK, family, target, wording };
      return worldOf()
        .reset({ task: task as never, seed: 0 })
        .text.split('Your task is to: ')[1];
    });
    expect(said).toEqual(sentences.map((sentence) => `${sentence}.`));
  });

  it('solves a task in the language of ALFWorld 0.4, with reward 1 at the end only', () => {
    const results = answers(
      {},
      'look', 'inventory', 'go to countertop 1', 'look', 'take apple 1 from countertop 1', 'inventory', 'examine apple 1', 'go to fridge 1',
      'cool apple 1 with fridge 1', 'examine apple 1', 'open fridge 1', 'examine fridge 1', 'close fridge 1', 'go to diningtable 1',
      'move apple 1 to diningtable 1',
    ); // oxfmt-ignore
    expect(textsOf(results)).toEqual([
      'You are in the middle of a room. Looking quickly around you, you see nothing.',
      'You are not carrying anything.',
      'You arrive at countertop 1. On the countertop 1, you see a apple 1, and a mug 1.',
      'You are facing the countertop 1. Next to it, you see nothing.',
      'You pick up the apple 1 from the countertop 1.',
      'You are carrying: a apple 1.',
      "There's nothing special about apple 1.",
      'You arrive at fridge 1. The fridge 1 is closed.',
      'You cool the apple 1 using the fridge 1.',
      'This is a cold apple 1.',
      'You open the fridge 1. The fridge 1 is open. In it, you see nothing.',
      'The fridge 1 is open. In it, you see nothing.',
      'You close the fridge 1.',
      'You arrive at diningtable 1. On the diningtable 1, you see nothing.',
      'You move the apple 1 to the diningtable 1.',
    ]);
    expect(results.slice(0, -1).every(({ reward, success }) => reward === 0 && success === null)).toBe(true);
    expect(results.at(-1)).toMatchObject({
      reward: 1,
      rewardNames: ['goal'],
      terminated: true,
      success: true,
    });
  });

  it('speaks as ALFWorld 0.3 in the dialect put', () => {
    const results = answers(
      { dialect: 'put', task: { family: 'place', target: 'desk', thing: 'mug' } },
      'help', 'go to countertop 1', 'take mug 1 from countertop 1', 'move mug 1 to countertop 1', 'go to desk 1', 'put mug 1 in/on desk 1',
    ); // oxfmt-ignore
    expect(textsOf(results)).toEqual([
      'Nothing happens.',
      'You arrive at loc 3. On the countertop 1, you see a apple 1, and a mug 1.',
      'You pick up the mug 1 from the countertop 1.',
      'Nothing happens.',
      'You arrive at loc 4. On the desk 1, you see a apple 2, and a desklamp 1.',
      'You put the mug 1 in/on the desk 1.',
    ]);
    expect(results.at(-1)).toMatchObject({ success: true });
  });

  it('slices with a knife that is held, heats after cooling, and tells all of it', () => {
    const results = answers(
      {},
      'go to drawer 1', 'take knife 1 from drawer 1', 'open drawer 1', 'take knife 1 from drawer 1', 'go to countertop 1',
      'slice mug 1 with knife 1', 'slice apple 1 with knife 1', 'move knife 1 to countertop 1', 'take apple 1 from countertop 1',
      'examine apple 1', 'go to fridge 1', 'cool apple 1 with fridge 1', 'go to sinkbasin 1', 'clean apple 1 with sinkbasin 1',
      'examine apple 1', 'go to microwave 1', 'heat apple 1 with microwave 1', 'examine apple 1',
    ); // oxfmt-ignore
    expect(results.flatMap(({ actionValid }, i) => (actionValid ? [] : [i]))).toEqual([1, 5]);
    expect([6, 9, 14, 17].map((i) => results[i].observation.text)).toEqual([
      'You sliced the apple 1 with the knife 1.',
      'This is a sliced apple 1.',
      'This is a cool and clean sliced apple 1.',
      'This is a hot and clean sliced apple 1.',
    ]);
  });

  it('needs the thing in the hand and the lamp on beside it, in either order', () => {
    const task = { family: 'examine-in-light', target: 'desklamp' } as const;
    const there = ['go to desk 1', 'take apple 2 from desk 1', 'use desklamp 1'];
    expect(answers({ task }, ...there).map(({ success }) => success)).toEqual([null, null, true]);
    const before = [
      'go to desk 1',
      'use desklamp 1',
      'go to countertop 1',
      'take apple 1 from countertop 1',
      'go to desk 1',
    ];
    expect(answers({ task }, ...before).map(({ success }) => success)).toEqual([
      null,
      null,
      null,
      null,
      true,
    ]);
  });

  it('wants two things in one receptacle for place-two', () => {
    const carry = (apple: string, from: string, cabinet: string): string[] => [
      `go to ${from}`, `take ${apple} from ${from}`, `go to ${cabinet}`, `open ${cabinet}`, `move ${apple} to ${cabinet}`,
    ]; // oxfmt-ignore
    const task = {
      family: 'place-two',
      thing: 'mug',
      target: 'cabinet',
      things: [...TASK.things, ['mug', 'desk 1']],
    } as const;
    const first = carry('mug 1', 'countertop 1', 'cabinet 1');
    const apart = answers({ task }, ...first, ...carry('mug 2', 'desk 1', 'cabinet 2'));
    expect(apart.at(-1)).toMatchObject({ actionValid: true, success: null });
    const together = answers(
      { task },
      ...first,
      ...carry('mug 2', 'desk 1', 'cabinet 1').filter((a) => !a.startsWith('open')),
    );
    expect(together.at(-1)).toMatchObject({ success: true });
  });

  it.each([
    ['jump', null],
    ['go to balcony', null],
    ['go to fridge 2', 'go to fridge 2'],
    ['open fridge 1', 'open fridge 1'],
    ['Look', null],
    ['examine mug 1', 'examine mug 1'],
    ['put mug 1 in/on desk 1', null],
  ])('lets nothing happen for %j at −0.1', (action, parsedAction) => {
    const before = worldOf().reset({ task: TASK as never, seed: 0 }).anchor;
    expect(answers({}, action)[0]).toMatchObject({
      observation: { text: 'Nothing happens.', anchor: before },
      reward: -0.1,
      actionValid: false,
      parsedAction,
    });
  });

  it('has one thing in the hand at most, what fits where it is, and closed receptacles untouched, in random play', () => {
    const random = new Pcg32(4);
    for (let index = 0; index < 30; index++) {
      const world = household.create() as HouseholdWorld;
      let { legalActions } = world.reset(household.sampleTask({ split: 'train', index, seed: 2 }));
      for (let step = 0; step < 50; step++) {
        const before = world.state;
        const choices = (legalActions ?? []).filter(
          (action) => !action.startsWith('go') || random.nextFloat() < 0.2,
        );
        const result = world.step(choices[random.nextBelow(choices.length)]);
        expect(result.actionValid).toBe(true);
        const { things, receptacles } = world.rules;
        const moved = [...things.keys()].filter((i) => world.state.places[i] !== before.places[i]);
        expect(moved.length).toBeLessThanOrEqual(1);
        expect(world.state.places.filter((place) => place < 0).length).toBeLessThanOrEqual(1);
        for (const i of moved) {
          const place = Math.max(world.state.places[i], before.places[i]);
          expect(place).toBe(before.at);
          const isOpen = (world.state.receptacleMarks[place] & 1) === 1;
          expect(isOpen || !/cabinet|drawer|fridge|microwave|safe/.test(receptacles[place].kind)).toBe(true);
          expect(THING_KINDS[things[i].kind].fits.has(receptacles[place].kind)).toBe(true);
        }
        if (result.terminated) break;
        ({ legalActions } = result.observation);
      }
    }
  });

  it('anchors on where things are, not on the way there', () => {
    const anchorAfter = (...actions: string[]): string | null =>
      answers({}, ...actions).at(-1)?.observation.anchor ?? null;
    const anchor = anchorAfter('go to desk 1');
    expect(anchorAfter('go to fridge 1', 'inventory', 'go to countertop 1', 'go to desk 1')).toBe(anchor);
    expect(anchorAfter('go to fridge 1', 'open fridge 1', 'go to desk 1')).not.toBe(anchor);
    expect(anchorAfter('go to desk 1', 'take apple 2 from desk 1')).not.toBe(anchor);
  });

  it.each([
    ['task.family', { family: 'sing' }],
    ['task.target', { target: 'bed' }],
    ['task.target', { target: 'cabinet' }],
    ['task.thing', { thing: 'fork' }],
    ['task.thing', { family: 'place-two', thing: 'mug' }],
    ['task.receptacles', { receptacles: { cabinet: 10 } }],
    ['task.receptacles', { receptacles: { ...TASK.receptacles, throne: 1 } }],
    ['task.things', { things: [['apple', 'desk 7']] }],
    ['task.things', { family: 'examine-in-light', target: 'desklamp', things: [['apple', 'desk 1']] }],
  ])('refuses a task with a fault in %s: %j', (field, changes) => {
    const reset = (): unknown => worldOf().reset({ task: { ...TASK, ...changes } as never, seed: 0 });
    expect(reset).toThrowError(
      expect.objectContaining({
        code: 'INVALID_TASK',
        message: expect.stringContaining(field) as string,
      }) as Error,
    );
  });
});

describe('agents and tasks of household', () => {
  it('draws every family about equally', () => {
    const counts = new Map<string, number>();
    for (let index = 0; index < 360; index++) {
      const family = household.familyOf?.(household.sampleTask({ split: 'test', index, seed: 1 }).task) ?? '';
      counts.set(family, (counts.get(family) ?? 0) + 1);
    }
    expect([...counts.keys()].sort()).toEqual([...HOUSEHOLD_FAMILIES].sort());
    // Expectation 60 each, standard deviation √(360 · 1/6 · 5/6) = 7.1.
    for (const count of counts.values()) expect(Math.abs(count - 60)).toBeLessThan(4 * 7.1);
  });

  it('keeps six rooms of each kind for the test split', () => {
    const roomsOf = (split: 'train' | 'validation' | 'test'): Set<string> => {
      const tasks = Array.from(
        { length: 300 },
        (_, index) => household.sampleTask({ split, index, seed: 1 }).task,
      );
      return new Set(tasks.map((task) => JSON.stringify((task as unknown as HouseholdTask).receptacles)));
    };
    const [train, validation, test] = [roomsOf('train'), roomsOf('validation'), roomsOf('test')];
    expect([...test].filter((room) => train.has(room))).toEqual([]);
    expect(test.size).toBe(6 * 4);
    expect([...validation].filter((room) => train.has(room)).length).toBeGreaterThan(60);
    for (const kind of ROOM_KINDS)
      expect(new Set(drawRooms(kind, 'large').map((room) => JSON.stringify(room))).size).toBe(30);
  });

  it('is always solved by the expert and by the searcher, hardly ever by random actions', async () => {
    for (const spec of [household, householdPut, householdSmall]) {
      expect(await measureSuccess(spec, 'expert', 100)).toBe(1);
    }
    expect(await measureSuccess(household, 'searcher', 100)).toBe(1);
    expect(await measureSuccess(household, 'random', 50)).toBeLessThan(0.05);
  });

  it('goes on from any state, as a fork does: the searcher puts down what it does not need', () => {
    const world = worldOf();
    for (const action of ['go to countertop 1', 'take mug 1 from countertop 1', 'go to microwave 1'])
      world.step(action);
    const searcher = household.agents.find(({ name }) => name === 'searcher');
    let result: StepResult | null = null;
    for (let step = 0; step < 30 && result?.terminated !== true; step++) {
      const observation = world.restore(world.snapshot());
      result = world.step(searcher?.act(world, observation, () => 0) ?? '');
      expect(result.actionValid).toBe(true);
    }
    expect(result?.success).toBe(true);
  });

  it.each([
    ['families', { families: [] }],
    ['dialect', { dialect: 'take' as HouseholdDialect }],
    ['maxSteps', { maxSteps: 0 }],
  ])('refuses rules with a fault in %s', (field, rules) => {
    expect(() => householdSpec({ name: 'mine', ...rules })).toThrowError(
      expect.objectContaining({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining(field) as string,
      }) as Error,
    );
  });

  it('gives the same bytes for the same seeds as when this was written', async () => {
    const digest = createHash('sha256')
      .update(await playTranscript(household, 20))
      .digest('hex');
    expect(digest).toBe('bd5df3f32159da3062a59ba6a59d5b959306d01a98c4b324548dd09cc039dfac');
  });
});
