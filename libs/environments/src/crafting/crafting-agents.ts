import type { Environment, ScriptedAgent } from '../environment.js';
import { EnvironmentError } from '../errors.js';
import { Crafting } from './crafting.js';
import { formatPortion, formatRecipe, type Portion, type CraftingRecipe } from './recipe-book.js';

/** Gets and crafts what the goal's shallowest recipe lacks, deepest ingredients first. */
export const craftingExpert: ScriptedAgent = {
  name: 'expert',
  act(environment) {
    const world = asCrafting(environment);
    const action = nextAction(world, { name: world.rules.goal, count: world.held(world.rules.goal) + 1 });
    if (action === null) throw new EnvironmentError('INVALID_ARGUMENT', 'crafting: the goal is made already');
    return action;
  },
};

/** The next action on the way to hold a portion; null when it is held. */
function nextAction(world: Crafting, { name: wanted, count }: Portion): string | null {
  const name = itemFor(world, { name: wanted, count });
  const lacking = count - world.held(name);
  if (lacking <= 0) return null;
  const recipe = shallowestRecipe(world, name);
  if (recipe === null) return `get ${formatPortion({ name, count: lacking })}`;
  const numCrafts = Math.ceil(lacking / recipe.output.count);
  const inputs = recipe.inputs.map((input) => ({ ...input, name: itemFor(world, input) }));
  // Deepest first, since making it may use up what another ingredient needs.
  const byDepth = [...inputs].sort((a, b) => world.rules.depthOf(b.name) - world.rules.depthOf(a.name));
  for (const input of byDepth) {
    const action = nextAction(world, { name: input.name, count: input.count * numCrafts });
    if (action !== null) return action;
  }
  return formatRecipe({ output: recipe.output, inputs });
}

/** The item that stands for an ingredient: of a tag, the one that the agent has most of, then the shallowest. */
function itemFor(world: Crafting, { name }: Portion): string {
  const members = world.rules.membersByTag.get(name) ?? [name];
  const cost = (item: string): number => world.rules.depthOf(item) - 1000 * world.held(item);
  return members.reduce((best, item) => (cost(item) < cost(best) ? item : best));
}

function shallowestRecipe({ rules }: Crafting, item: string): CraftingRecipe | null {
  const recipes = rules.recipesByOutput.get(item);
  if (recipes === undefined) return null;
  const depth = ({ inputs }: CraftingRecipe): number =>
    Math.max(...inputs.map(({ name }) => rules.depthOf(name)));
  return recipes.reduce((best, recipe) => (depth(recipe) < depth(best) ? recipe : best));
}

function asCrafting(environment: Environment): Crafting {
  if (environment instanceof Crafting) return environment;
  throw new EnvironmentError('WRONG_ENVIRONMENT', 'this agent plays crafting only');
}
