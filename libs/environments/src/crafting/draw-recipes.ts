import { type Pcg32, shuffle } from '@retrace/random';
import { toTag, type ItemNames } from './crafting-words.js';
import { formatRecipe, type CraftingTask, type Portion, type CraftingRecipe } from './recipe-book.js';

const TAG_PROBABILITY = 0.25;
const REUSE_PROBABILITY = 0.3;
const SECOND_RECIPE_PROBABILITY = 0.15;

export interface TreeSize {
  /** Levels of recipes under the goal. */
  readonly depth: number;
  /** Most recipes beside those of the tree. */
  readonly maxDistractors: number;
  /** Words that items are called by. */
  readonly names: ItemNames;
  /** Whether some items have two recipes. */
  readonly hasAlternatives: boolean;
}

/**
 * Draws a tree of recipes whose goal has `depth` levels, and distractors that take items of the tree. A quarter of the crafted ingredients
 * are tags of two items, where items have two words; an ingredient may be one that the tree has already; with `hasAlternatives` some items
 * have two recipes.
 */
export function drawCraftingTask(random: Pcg32, size: TreeSize): CraftingTask {
  return new TreeOfRecipes(random, size).draw();
}

class TreeOfRecipes {
  private readonly recipes: CraftingRecipe[] = [];
  private readonly tags: Record<string, string> = {};
  private readonly taken = new Set<string>();
  /** Forms of which no item was taken. */
  private readonly freeForms: Set<string>;
  /** Names that a recipe may take again, by depth. */
  private readonly known: string[][] = [];

  constructor(
    private readonly random: Pcg32,
    private readonly size: TreeSize,
  ) {
    this.freeForms = new Set(size.names.forms);
  }

  draw(): CraftingTask {
    const { depth, maxDistractors } = this.size;
    const goal = this.takeItem();
    this.make(goal, depth, 1);
    const numDistractors = this.random.nextBelow(maxDistractors + 1);
    for (let i = 0; i < numDistractors; i++) this.addDistractor();
    shuffle(this.recipes, this.random);
    return { goal, recipes: this.recipes.map(formatRecipe), tags: this.tags };
  }

  /** Adds the recipes of an item. */
  private make(item: string, depth: number, outputCount: number): void {
    const numRecipes = this.size.hasAlternatives && this.chance(SECOND_RECIPE_PROBABILITY) ? 2 : 1;
    for (let i = 0; i < numRecipes; i++) {
      const inputs: Portion[] = [this.input(depth - 1)];
      const numMore = this.random.nextBelow(depth === 1 ? 3 : 2);
      for (let more = 0; more < numMore; more++) {
        const input = this.input(this.random.nextBelow(depth));
        if (!inputs.some(({ name }) => this.mayBeSame(name, input.name))) inputs.push(input);
      }
      this.recipes.push({ output: { name: item, count: outputCount }, inputs });
    }
  }

  /** An ingredient of a depth, new or of the tree. */
  private input(depth: number): Portion {
    const count = 1 + this.random.nextBelow(depth === 0 ? 4 : 2);
    const reusable = this.known[depth] ?? [];
    if (reusable.length > 0 && this.chance(REUSE_PROBABILITY)) {
      return { name: this.pick(reusable), count };
    }
    const name = depth > 0 && this.chance(TAG_PROBABILITY) ? this.makeTag(depth) : null;
    return { name: name ?? this.makeItem(depth), count };
  }

  private makeItem(depth: number): string {
    const item = this.takeItem();
    if (depth > 0) this.make(item, depth, 1 + this.random.nextBelow(4));
    (this.known[depth] ??= []).push(item);
    return item;
  }

  /** A tag with two items of the same depth; null when no form is free, as where items have one word. */
  private makeTag(depth: number): string | null {
    const free = [...this.freeForms];
    if (free.length === 0) return null;
    const form = this.pick(free);
    const { materials } = this.size.names;
    const first = this.random.nextBelow(materials.length);
    const second = (first + 1 + this.random.nextBelow(materials.length - 1)) % materials.length;
    const members = [first, second].map((material) => `${materials[material]} ${form}`);
    for (const member of members) this.take(member);
    for (const member of members) {
      this.make(member, depth, 1 + this.random.nextBelow(4));
      this.tags[member] = toTag(form);
    }
    (this.known[depth] ??= []).push(toTag(form));
    return toTag(form);
  }

  /** A recipe of another item that takes something of the tree. */
  private addDistractor(): void {
    const { inputs } = this.pick(this.recipes);
    const { name } = this.pick(inputs);
    const taken: Portion[] = [{ name, count: 1 + this.random.nextBelow(4) }];
    if (this.chance(0.5)) taken.push({ name: this.takeItem(), count: 1 + this.random.nextBelow(4) });
    this.recipes.push({
      output: { name: this.takeItem(), count: 1 + this.random.nextBelow(4) },
      inputs: taken,
    });
  }

  private mayBeSame(a: string, b: string): boolean {
    return (
      a === b || this.tags[a] === b || this.tags[b] === a || (a in this.tags && this.tags[a] === this.tags[b])
    );
  }

  private takeItem(): string {
    for (;;) {
      const item = this.pick(this.size.names.items);
      if (!this.taken.has(item)) return this.take(item);
    }
  }

  private take(item: string): string {
    this.taken.add(item);
    this.freeForms.delete(item.slice(item.indexOf(' ') + 1));
    return item;
  }

  private pick<T>(choices: readonly T[]): T {
    return choices[this.random.nextBelow(choices.length)];
  }

  private chance(probability: number): boolean {
    return this.random.nextFloat() < probability;
  }
}
