import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { Pcg32 } from '@retrace/random';
import type { StepResult } from '../environment.js';
import { describeEnvironmentContract } from '../testing/environment-contract.js';
import { measureSuccess, playTranscript } from '../testing/episodes.js';
import { Crafting } from './crafting.js';
import { crafting, craftingMini, craftingOpen, craftingSmall, craftingSpec } from './index.js';

describeEnvironmentContract(crafting);
describeEnvironmentContract(craftingSmall);
describeEnvironmentContract(craftingMini);

const TASK = {
  goal: 'tin lamp',
  recipes: [
    'craft 1 tin lamp using 2 rods, 1 flint bead',
    'craft 4 ash rod using 1 ash beam',
    'craft 3 iron rod using 2 iron bolt',
    'craft 1 moss cord using 3 flint bead',
  ],
  tags: { 'ash rod': 'rods', 'iron rod': 'rods' },
};

function answers(...actions: readonly string[]): StepResult[] {
  const world = new Crafting();
  world.reset({ task: TASK, seed: 0 });
  return actions.map((action) => world.step(action));
}

const textsOf = (results: readonly StepResult[]): string[] =>
  results.map(({ observation }) => observation.text);

describe('crafting', () => {
  it('shows the commands and the goal, and what can be done', () => {
    const first = new Crafting().reset({ task: TASK, seed: 0 });
    expect(first.text).toBe(`Crafting commands:\n${TASK.recipes.join('\n')}\n\nGoal: craft tin lamp.`);
    expect(first.legalActions).toEqual([
      'inventory', 'get 1 flint bead', 'get 3 flint bead', 'get 1 ash beam', 'get 1 iron bolt', 'get 2 iron bolt',
    ]); // oxfmt-ignore
  });

  // Expected answers are those of agentenv_textcraft 3ef9235 for the same recipes (test/long/world-fidelity).
  it('answers as TextCraft does, and ends with reward 1 at the goal', () => {
    const results = answers(
      'inventory', 'get 1 ash beam', 'get 2 flint bead', 'craft 1 ash rod using 1 ash beam', 'inventory',
      'craft 1 tin lamp using 2 ash rod, 1 flint bead',
    ); // oxfmt-ignore
    expect(textsOf(results)).toEqual([
      'Inventory: You are not carrying anything.',
      'Got 1 ash beam',
      'Got 2 flint bead',
      'Crafted 4 minecraft:ash_rod',
      'Inventory: [flint bead] (2) [ash rod] (4) ',
      'Crafted 1 minecraft:tin_lamp',
    ]);
    expect(results[5]).toMatchObject({ reward: 1, rewardNames: ['goal'], terminated: true, success: true });
    expect(results.slice(0, 5).every(({ reward, success }) => reward === 0 && success === null)).toBe(true);
  });

  it.each([
    ['jump', 'Could not execute jump'],
    ['get 1 ash rod', 'Could not find ash rod'],
    ['get 1 rods', 'Could not find rods'],
    ['get 1 gold', 'Could not find gold'],
    ['get one ash beam', 'Could not execute get one ash beam'],
    [
      'craft 1 tin lamp using 2 rods, 1 flint bead',
      'Could not find enough items to craft minecraft:tin_lamp',
    ],
    ['craft 1 tin lamp using two ash rod', 'Wrong item format: two ash rod'],
    ['craft 4 ash rod using 0 ash beam', 'Could not find enough items to craft minecraft:ash_rod'],
  ])('refuses %j with −0.1 and TextCraft’s sentence', (action, text) => {
    expect(answers(action)[0]).toMatchObject({ observation: { text }, reward: -0.1, actionValid: false });
  });

  it('takes exactly the recipe’s ingredients with their counts', () => {
    const [, , , few, many, more, other] = answers(
      'get 9 iron bolt', 'get 9 flint bead', 'get 9 ash beam',
      'craft 3 iron rod using 1 iron bolt',
      'craft 3 iron rod using 3 iron bolt',
      'craft 3 iron rod using 2 iron bolt, 1 flint bead',
      'craft 1 iron rod using 2 iron bolt',
    ); // oxfmt-ignore
    expect(few.observation.text).toBe(
      "Could not find a valid recipe for ItemTagWithCount(item_tag=ItemTag(tag=None, item_id='minecraft:iron_rod'), count=3)",
    );
    expect([few, many, more, other].map(({ actionValid }) => actionValid)).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });

  it('conserves items: gets and crafts explain every count, in random play', () => {
    const random = new Pcg32(4);
    for (let index = 0; index < 40; index++) {
      const world = new Crafting();
      let { legalActions } = world.reset(crafting.sampleTask({ split: 'train', index, seed: 2 }));
      const expected = new Map<string, number>();
      const add = (item: string, count: number): void => {
        const after = (expected.get(item) ?? 0) + count;
        expect(after).toBeGreaterThanOrEqual(0);
        if (after === 0) expected.delete(item);
        else expected.set(item, after);
      };
      for (let step = 0; step < 40; step++) {
        const actions = legalActions ?? [];
        const action = actions[random.nextBelow(actions.length)];
        const { observation, actionValid, terminated } = world.step(action);
        expect(actionValid).toBe(true);
        const [, count, item] = /^get (\d+) (.*)/.exec(action) ?? [];
        if (item) add(item, Number(count));
        const [, made, output, inputs] = /^craft (\d+) (.*) using (.*)/.exec(action) ?? [];
        for (const input of inputs?.split(', ') ?? []) add(input.replace(/^\d+ /, ''), -parseInt(input));
        if (output) add(output, Number(made));
        expect(Object.fromEntries(world.state)).toEqual(Object.fromEntries(expected));
        if (terminated) break;
        legalActions = observation.legalActions;
      }
    }
  });

  it('anchors on tasks and inventory, not on the order of recipes or of getting', () => {
    const anchorAfter = (task: typeof TASK, ...actions: string[]): string | null => {
      const world = new Crafting();
      const first = world.reset({ task, seed: 0 });
      return actions.map((action) => world.step(action).observation).at(-1)?.anchor ?? first.anchor;
    };
    const turned = { ...TASK, recipes: [...TASK.recipes].reverse() };
    const [one, two] = ['get 1 ash beam', 'get 3 flint bead'];
    expect(anchorAfter(TASK, one, two)).toBe(anchorAfter(turned, two, 'inventory', one));
    expect(anchorAfter(TASK, one)).not.toBe(anchorAfter(TASK, two));
    expect(anchorAfter(TASK)).not.toBe(anchorAfter({ ...TASK, goal: 'moss cord' }));
  });

  it.each([
    ['task.recipes', { ...TASK, recipes: [] }],
    ['task.recipes', { ...TASK, recipes: ['craft lamp'] }],
    ['task.recipes', { ...TASK, recipes: [...TASK.recipes, 'craft 1 moss disk using 1 rods, 1 ash rod'] }],
    ['task.goal', { ...TASK, goal: 'ash beam' }],
    ['task.tags.ash beam', { ...TASK, tags: { 'ash beam': 'beams' } }],
  ])('refuses a task with a fault in %s', (field, task) => {
    const reset = (): unknown => new Crafting().reset({ task, seed: 0 });
    expect(reset).toThrowError(
      expect.objectContaining({
        code: 'INVALID_TASK',
        message: expect.stringContaining(field) as string,
      }) as Error,
    );
  });

  it('refuses a goal that needs itself', () => {
    const recipes = ['craft 1 tin rod using 1 tin disk', 'craft 1 tin disk using 1 tin rod'];
    const reset = (): unknown =>
      new Crafting().reset({ task: { goal: 'tin rod', recipes, tags: {} }, seed: 0 });
    expect(reset).toThrowError('must be an item that can be made');
  });

  it('says ? for words that its vocabulary lacks, and the open world repeats them', () => {
    const sampled = crafting.sampleTask({ split: 'train', index: 0, seed: 1 });
    const texts = [crafting, craftingOpen].map((spec) => {
      const world = spec.create();
      void world.reset(sampled);
      return (world.step('get 3 golden apples') as StepResult).observation.text;
    });
    expect(texts).toEqual(['Could not find ? ?', 'Could not find golden apples']);
  });
});

describe('agents and tasks of crafting', () => {
  it('draws all four depths about equally', () => {
    const counts = new Map<string, number>();
    for (let index = 0; index < 400; index++) {
      const { task } = crafting.sampleTask({ split: 'test', index, seed: 1 });
      const family = crafting.familyOf?.(task) ?? '';
      counts.set(family, (counts.get(family) ?? 0) + 1);
    }
    expect([...counts.keys()].sort()).toEqual(['depth-1', 'depth-2', 'depth-3', 'depth-4']);
    // Expectation 100 each, standard deviation √(400 · ¼ · ¾) = 8.7.
    for (const count of counts.values()) expect(Math.abs(count - 100)).toBeLessThan(4 * 8.7);
  });

  it('is always solved by the expert; random legal actions in two of five', async () => {
    expect(await measureSuccess(crafting, 'expert', 400)).toBe(1);
    const random = await measureSuccess(crafting, 'random', 400);
    expect(random).toBeGreaterThan(0.35);
    expect(random).toBeLessThan(0.49);
  });

  it('draws small tasks of one or two levels, 32 items of one word, and at most 2 recipes that the goal does not need', () => {
    const items = new Set<string>();
    for (let index = 0; index < 300; index++) {
      const { task } = craftingSmall.sampleTask({ split: 'train', index, seed: 1 });
      expect(craftingSmall.familyOf?.(task)).toMatch(/^depth-[12]$/);
      const { recipes, goal, tags } = task as unknown as typeof TASK;
      const outputs = recipes.map((recipe) => / \d+ (.*) using/.exec(recipe)?.[1] ?? '');
      const inputs = recipes.flatMap((recipe) => recipe.split(' using ')[1].split(', '));
      const used = new Set(inputs.map((input) => input.replace(/^\d+ /, '')));
      const unused = outputs.filter(
        (item) => item !== goal && !used.has(item) && !used.has(tags[item as 'ash rod']),
      );
      expect(unused.length).toBeLessThanOrEqual(2);
      for (const item of outputs) items.add(item);
    }
    expect(items.size).toBe(32);
    expect([...items].filter((item) => item.includes(' '))).toEqual([]);
  });

  it('draws the smallest tasks with one recipe for each item, all of which the goal needs', () => {
    for (let index = 0; index < 300; index++) {
      const { task } = craftingMini.sampleTask({ split: 'train', index, seed: 1 });
      const { recipes, goal } = task as unknown as typeof TASK;
      const outputs = recipes.map((recipe) => / \d+ (.*) using/.exec(recipe)?.[1] ?? '');
      const inputs = recipes.flatMap((recipe) => recipe.split(' using ')[1].split(', '));
      const used = new Set(inputs.map((input) => input.replace(/^\d+ /, '')));
      expect(new Set(outputs).size).toBe(outputs.length);
      expect(outputs.filter((item) => !used.has(item))).toEqual([goal]);
    }
  });

  it('is always solved by the expert in small tasks; random legal actions run out of turns in many', async () => {
    expect(await measureSuccess(craftingSmall, 'expert', 400)).toBe(1);
    expect(await measureSuccess(craftingSmall, 'random', 400)).toBeLessThan(0.45);
    expect(await measureSuccess(craftingMini, 'expert', 400)).toBe(1);
    expect(await measureSuccess(craftingMini, 'random', 400)).toBeLessThan(0.65);
  });

  it.each([
    ['maxDepth', { maxDepth: 5 }],
    ['maxDistractors', { maxDistractors: -1 }],
    ['maxSteps', { maxSteps: 11 }],
  ])('refuses rules with a fault in %s', (field, rules) => {
    const make = (): unknown =>
      craftingSpec({ name: 'mine', description: '', maxDepth: 2, maxDistractors: 2, ...rules });
    expect(make).toThrowError(
      expect.objectContaining({
        code: 'INVALID_ARGUMENT',
        message: expect.stringContaining(field) as string,
      }) as Error,
    );
  });

  it('gives the same bytes for the same seeds as when this was written', async () => {
    const digest = createHash('sha256')
      .update(await playTranscript(crafting, 30))
      .digest('hex');
    expect(digest).toBe('473fb62cbdc406136ddea77f9f34213ff5803c47636c004887ae36b3f1b2822d');
  });
});
