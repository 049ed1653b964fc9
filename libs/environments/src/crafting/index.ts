import { deriveSeed, Pcg32 } from '@retrace/random';
import type { EnvironmentSpec } from '../environment.js';
import { randomAgent } from '../random-agents.js';
import { defineEnvironment } from '../registry.js';
import { requireInteger } from '../require-integer.js';
import { splitOf } from '../task-split.js';
import { craftingExpert } from './crafting-agents.js';
import { craftingWords, ONE_WORD_NAMES, TWO_WORD_NAMES } from './crafting-words.js';
import { CRAFTING_MAX_STEPS, Crafting } from './crafting.js';
import { drawCraftingTask } from './draw-recipes.js';
import { parseCraftingTask, type CraftingTask } from './recipe-book.js';

/** Share of an episode's actions that the expert needs at most in a task that is drawn, so that a policy has some to spare. */
const MAX_EXPERT_SHARE = 0.75;

export interface CraftingRules {
  readonly name: string;
  readonly description: string;
  /** Most levels of recipes under the goal; tasks of each number of levels are equally likely. */
  readonly maxDepth: number;
  /** Most recipes that lead nowhere. */
  readonly maxDistractors: number;
  /** Seeds the tasks in place of `name`: specs that share it have the same ones. */
  readonly tasks?: string;
  /** Words of an item's name: 2 (256 items, the default), or 1 (32 items, and no recipe takes a tag). */
  readonly wordsPerItem?: 1 | 2;
  /** Whether some items have two recipes, of which the expert takes the shallower (default true). */
  readonly hasAlternatives?: boolean;
  /** Whether answers keep to a closed vocabulary (default), or repeat any word of the agent as TextCraft does. */
  readonly isClosed?: boolean;
  /** Actions after which an episode is cut (default 40). */
  readonly maxSteps?: number;
}

/**
 * Makes TextCraft with trees of recipes of a given size; give it to `defineEnvironment`.
 *
 * @throws EnvironmentError `INVALID_ARGUMENT` for maxDepth outside 1 to 4, maxDistractors outside 0 to 8, or maxSteps outside 12 to 1000
 */
export function craftingSpec(rules: CraftingRules): EnvironmentSpec {
  const { name, description, maxDepth, maxDistractors, tasks = name } = rules;
  const { wordsPerItem = 2, hasAlternatives = true, isClosed = true, maxSteps = CRAFTING_MAX_STEPS } = rules;
  requireInteger('maxDepth', maxDepth, { least: 1, most: 4 });
  requireInteger('maxDistractors', maxDistractors, { least: 0, most: 8 });
  requireInteger('maxSteps', maxSteps, { least: 12, most: 1000 });
  const names = wordsPerItem === 2 ? TWO_WORD_NAMES : ONE_WORD_NAMES;
  const words = isClosed ? craftingWords(names) : null;
  const known = words === null ? null : new Set(words);
  const maxExpertSteps = Math.floor(MAX_EXPERT_SHARE * maxSteps);
  return {
    name,
    description,
    maxSteps,
    words,
    actionWords: null,
    splitsAreDisjoint: true,
    offersAnchors: true,
    create: () => new Crafting({ words: known, maxSteps }),
    sampleTask({ split, index, seed }) {
      const taskSeed = deriveSeed(tasks, seed, split, index);
      const random = new Pcg32(taskSeed);
      const depth = 1 + random.nextBelow(maxDepth);
      for (;;) {
        const task = drawCraftingTask(random, { depth, maxDistractors, names, hasAlternatives });
        // The order in which recipes are shown makes no other task.
        const content = [[...task.recipes].sort(), Object.entries(task.tags).sort(), task.goal];
        if (splitOf(JSON.stringify(content)) === split && isSuitable(task, depth, maxExpertSteps)) {
          return { task: { ...task }, seed: taskSeed };
        }
      }
    },
    familyOf: (task) => {
      const book = parseCraftingTask(task);
      return `depth-${book.depthOf(book.goal)}`;
    },
    agents: [randomAgent([]), craftingExpert],
  };
}

/** Recipes in a closed vocabulary, for policies trained from random weights. */
export const crafting = defineEnvironment(
  craftingSpec({
    name: 'crafting',
    description:
      'TextCraft with drawn trees of recipes, 1 to 4 levels: get items and craft the goal in at most 40 actions',
    maxDepth: 4,
    maxDistractors: 8,
  }),
);

/** The same tasks with TextCraft's answers to the letter, which repeat whatever the agent said. */
export const craftingOpen = defineEnvironment(
  craftingSpec({
    name: 'crafting-open',
    description: 'The tasks of crafting, with answers that repeat any word of the agent, as TextCraft does',
    maxDepth: 4,
    maxDistractors: 8,
    tasks: 'crafting',
    isClosed: false,
  }),
);

/** Trees of one or two levels and few recipes beside them, for policies that are trained from random weights within minutes. */
export const craftingSmall = defineEnvironment(
  craftingSpec({
    name: 'crafting-small',
    description:
      'TextCraft with drawn trees of recipes, 1 or 2 levels, 32 items of one word, at most 2 recipes that lead nowhere: craft the goal in at most 12 actions',
    maxDepth: 2,
    maxDistractors: 2,
    wordsPerItem: 1,
    maxSteps: 12,
  }),
);

/** One recipe for each item and none that leads nowhere: what is left to learn is which recipe comes first and what it takes. */
export const craftingMini = defineEnvironment(
  craftingSpec({
    name: 'crafting-mini',
    description:
      'TextCraft with drawn trees of recipes, 1 or 2 levels, 32 items of one word, one recipe for each: craft the goal in at most 12 actions',
    maxDepth: 2,
    maxDistractors: 0,
    wordsPerItem: 1,
    hasAlternatives: false,
    maxSteps: 12,
  }),
);

function isSuitable(task: CraftingTask, depth: number, maxExpertSteps: number): boolean {
  const world = new Crafting({ maxSteps: maxExpertSteps });
  let observation = world.reset({ task: { ...task }, seed: 0 });
  if (world.rules.depthOf(world.rules.goal) !== depth) return false;
  for (let numSteps = 0; numSteps < maxExpertSteps; numSteps++) {
    const result = world.step(craftingExpert.act(world, observation, () => 0));
    if (result.terminated) return true;
    observation = result.observation;
  }
  return false;
}
