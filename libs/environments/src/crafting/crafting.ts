import type { Json } from '@retrace/trajectory';
import { hashText } from '@retrace/random';
import { refusal, TextWorld, type Outcome } from '../text-world/text-world.js';
import {
  formatPortion,
  formatRecipe,
  parseCraftingTask,
  type Portion,
  type RecipeBook,
} from './recipe-book.js';

export interface CraftingOptions {
  /** Words that answers are limited to; null (default) for none. */
  readonly words?: ReadonlySet<string> | null;
  /** Most actions of an episode (default 40). */
  readonly maxSteps?: number;
}

/** Most actions of an episode, where nothing else is said. */
export const CRAFTING_MAX_STEPS = 40;

/** Items that the agent holds with their counts, in the order in which it came to have them. */
export type Inventory = readonly (readonly [item: string, count: number])[];

/** Most of an item that one action gets. TextCraft has no limit. */
const MAX_GOT = 1_000_000;

const NAMESPACE = 'minecraft:';

/**
 * Crafts an item from a list of recipes: get base items, craft the others in the right order with the right counts.
 *
 * Rules and answers of TextCraft (ADaPT, arXiv:2311.05772) as AgentGym serves it, its odd ones included: the count before the item that
 * is crafted does not matter, `inventory` may be followed by anything, an item that recipes make can't be got. Differences: an action
 * that fails costs −0.1 (0 there), `get` gives at most 1,000,000, and an episode ends after a number of actions (never there). Reward 1 and end
 * when the goal is crafted.
 */
export class Crafting extends TextWorld<RecipeBook, Inventory> {
  private bookHash = '';

  constructor({ words = null, maxSteps = CRAFTING_MAX_STEPS }: CraftingOptions = {}) {
    super({ world: 'crafting', maxSteps, words });
  }

  protected parseTask(task: Json): RecipeBook {
    const book = parseCraftingTask(task);
    const lines = book.recipes.map(formatRecipe).sort();
    this.bookHash = hashText(JSON.stringify([lines, [...book.tagByItem].sort(), book.goal])).toString(36);
    return book;
  }

  protected begin({ recipes, goal }: RecipeBook): { state: Inventory; text: string } {
    const commands = recipes.map(formatRecipe).join('\n');
    return { state: [], text: `Crafting commands:\n${commands}\n\nGoal: craft ${goal}.` };
  }

  protected act(action: string): { state: Inventory; outcome: Outcome } {
    const craft = /^craft (.*) using (.*)/.exec(action);
    if (craft !== null) return this.craft(action, craft[1], craft[2]);
    const get = /^get ([0-9]+) (.*)/.exec(action);
    if (get !== null) return this.get(action, Number(get[1]), get[2]);
    if (action.startsWith('inventory')) return this.done('inventory', this.describeInventory(), this.state);
    return { state: this.state, outcome: refusal(`Could not execute ${action}`, null) };
  }

  protected describeState(): string {
    const held = this.state.map(([item, count]) => `${item}:${count}`).sort();
    return `${this.bookHash}@${held.join(',')}`;
  }

  protected listActions(): readonly string[] {
    const { baseItems, recipes } = this.rules;
    const gets = baseItems.flatMap((item) => {
      const counts = recipes.flatMap(({ inputs }) =>
        inputs.filter(({ name }) => name === item).map((i) => i.count),
      );
      return [...new Set([1, ...counts])].map((count) => `get ${formatPortion({ name: item, count })}`);
    });
    const crafts = recipes.flatMap(({ output, inputs }) => {
      const taken = inputs.map((input) => this.holdingFor(input));
      return taken.includes(null) ? [] : [formatRecipe({ output, inputs: taken as Portion[] })];
    });
    return ['inventory', ...crafts, ...gets];
  }

  protected readState(state: Json, { items }: RecipeBook): Inventory | null {
    const isHeld = (entry: Json): boolean =>
      Array.isArray(entry) &&
      entry.length === 2 &&
      items.has(entry[0] as string) &&
      Number.isSafeInteger(entry[1]) &&
      (entry[1] as number) >= 0;
    return Array.isArray(state) && state.every(isHeld) ? (state as unknown as Inventory) : null;
  }

  /** How many of an item the agent holds. */
  held(item: string): number {
    return this.state.find(([name]) => name === item)?.[1] ?? 0;
  }

  /** An ingredient that the agent holds enough of, by item; null where it does not. */
  private holdingFor({ name, count }: Portion): Portion | null {
    const items = this.rules.membersByTag.get(name) ?? [name];
    const held = items.find((item) => this.held(item) >= count);
    return held === undefined ? null : { name: held, count };
  }

  private get(action: string, count: number, said: string): { state: Inventory; outcome: Outcome } {
    const item = parseItem(said);
    const { items, recipesByOutput } = this.rules;
    if (recipesByOutput.has(item) || !items.has(item) || count > MAX_GOT)
      return this.fail(action, `Could not find ${said}`);
    return this.done(action, `Got ${count} ${said}`, this.change([{ name: item, count }]));
  }

  private craft(
    action: string,
    saidOutput: string,
    saidInputs: string,
  ): { state: Inventory; outcome: Outcome } {
    const { membersByTag } = this.rules;
    const counted = /^([0-9]+) (.*)/.exec(saidOutput);
    const output = parseItem(counted === null ? saidOutput : counted[2]);
    const portions: Portion[] = [];
    for (const part of saidInputs.split(',')) {
      const portion = /^([0-9]+) (.*)/.exec(part.trim());
      if (portion === null) return this.fail(action, `Wrong item format: ${part.trim()}`);
      portions.push({ count: Number(portion[1]), name: parseItem(portion[2]) });
    }
    const isTag = membersByTag.has(output);
    const lacksOne = portions.some(
      ({ name, count }) => !this.state.some(([item, held]) => item === name && held >= count),
    );
    if (lacksOne) {
      const name = isTag ? 'None' : toItemId(output);
      return this.fail(action, `Could not find enough items to craft ${name}`);
    }
    const recipe = this.rules.match(output, portions);
    if (recipe === null) {
      const count = counted === null ? 1 : Number(counted[1]);
      return this.fail(action, `Could not find a valid recipe for ${describePortion(output, count, isTag)}`);
    }
    const spent = portions.map(({ name, count }) => ({ name, count: -count }));
    const { name, count } = recipe.output;
    const isSolved = name === this.rules.goal;
    const { state, outcome } = this.done(
      action,
      `Crafted ${count} ${toItemId(name)}`,
      this.change([...spent, recipe.output]),
    );
    return { state, outcome: { ...outcome, isSolved, rewards: isSolved ? [['goal', 1]] : [] } };
  }

  /** The inventory with some of each item more or less; what is used up leaves it. */
  private change(portions: readonly Portion[]): Inventory {
    const counts = new Map(this.state);
    for (const { name, count } of portions) {
      const after = (counts.get(name) ?? 0) + count;
      if (count < 0 && after === 0) counts.delete(name);
      else counts.set(name, after);
    }
    return [...counts];
  }

  private describeInventory(): string {
    if (this.state.length === 0) return 'Inventory: You are not carrying anything.';
    return `Inventory: ${this.state.map(([item, count]) => `[${item}] (${count}) `).join('')}`;
  }

  private done(parsedAction: string, text: string, state: Inventory): { state: Inventory; outcome: Outcome } {
    return { state, outcome: { text, parsedAction, isValid: true, rewards: [], isSolved: false } };
  }

  private fail(parsedAction: string, text: string): { state: Inventory; outcome: Outcome } {
    return { state: this.state, outcome: refusal(text, parsedAction) };
  }
}

/** TextCraft takes blanks and underscores for the same. */
function parseItem(said: string): string {
  return said.replaceAll('_', ' ');
}

/** Name of an item in answers. */
export function toItemId(item: string): string {
  return NAMESPACE + item.replaceAll(' ', '_');
}

/** TextCraft shows its data class here. */
function describePortion(item: string, count: number, isTag: boolean): string {
  const id = pythonText(toItemId(item));
  const [tag, itemId] = isTag ? [id, 'None'] : ['None', id];
  return `ItemTagWithCount(item_tag=ItemTag(tag=${tag}, item_id=${itemId}), count=${count})`;
}

function pythonText(text: string): string {
  return text.includes("'") ? `"${text}"` : `'${text}'`;
}
