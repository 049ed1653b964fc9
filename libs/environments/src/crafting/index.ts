import type { EnvironmentSpec } from '../environment.js';
import { randomAgent } from '../random-agents.js';
import { deriveSeed } from '../random/derive-seed.js';
import { Pcg32 } from '../random/pcg32.js';
import { defineEnvironment } from '../registry.js';
import { splitOf } from '../task-split.js';
import { craftingExpert } from './crafting-agents.js';
import { CRAFTING_WORDS } from './crafting-words.js';
import { CRAFTING_MAX_STEPS, Crafting } from './crafting.js';
import { drawCraftingTask } from './draw-recipes.js';
import { parseCraftingTask, type CraftingTask } from './recipe-book.js';

const MAX_DEPTH = 4;

/** Most actions of the expert in a task that is drawn, so that a policy has some to spare. */
const MAX_EXPERT_STEPS = 30;

const shared = {
  maxSteps: CRAFTING_MAX_STEPS,
  actionWords: null,
  splitsAreDisjoint: true,
  offersAnchors: true,
  sampleTask({ split, index, seed }) {
    const taskSeed = deriveSeed('crafting', seed, split, index);
    const random = new Pcg32(taskSeed);
    const depth = 1 + random.nextBelow(MAX_DEPTH);
    for (;;) {
      const task = drawCraftingTask(random, depth);
      // The order in which recipes are shown makes no other task.
      const content = [[...task.recipes].sort(), Object.entries(task.tags).sort(), task.goal];
      if (splitOf(JSON.stringify(content)) === split && isSuitable(task, depth)) {
        return { task: { ...task }, seed: taskSeed };
      }
    }
  },
  familyOf: (task) => {
    const book = parseCraftingTask(task);
    return `depth-${book.depthOf(book.goal)}`;
  },
  agents: [randomAgent([]), craftingExpert],
} satisfies Partial<EnvironmentSpec>;

/** Recipes in a closed vocabulary, for policies trained from random weights. */
export const crafting = defineEnvironment({
  ...shared,
  name: 'crafting',
  description:
    'TextCraft with drawn trees of recipes, 1 to 4 levels: get items and craft the goal in at most 40 actions',
  words: CRAFTING_WORDS,
  create: () => new Crafting(new Set(CRAFTING_WORDS)),
});

/** The same tasks with TextCraft's answers to the letter, which repeat whatever the agent said. */
export const craftingOpen = defineEnvironment({
  ...shared,
  name: 'crafting-open',
  description: 'The tasks of crafting, with answers that repeat any word of the agent, as TextCraft does',
  words: null,
  create: () => new Crafting(null),
});

function isSuitable(task: CraftingTask, depth: number): boolean {
  const world = new Crafting(null);
  let observation = world.reset({ task: { ...task }, seed: 0 });
  if (world.rules.depthOf(world.rules.goal) !== depth) return false;
  for (let numSteps = 0; numSteps < MAX_EXPERT_STEPS; numSteps++) {
    const result = world.step(craftingExpert.act(world, observation, () => 0));
    if (result.terminated) return true;
    observation = result.observation;
  }
  return false;
}
