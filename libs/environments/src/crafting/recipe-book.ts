import { isJsonObject, type Json } from '@retrace/trajectory';
import { EnvironmentError } from '../errors.js';

/** An item, or a tag where a recipe takes any item of a kind, with how many of it. Names have blanks: `ash panel`. */
export interface Portion {
  readonly name: string;
  readonly count: number;
}

export interface CraftingRecipe {
  readonly output: Portion;
  readonly inputs: readonly Portion[];
}

/** The recipes of a task, what they make and take, and the item that is to be made. */
export class RecipeBook {
  readonly recipesByOutput = new Map<string, CraftingRecipe[]>();
  /** Items that recipes make or take. */
  readonly items = new Set<string>();
  readonly membersByTag = new Map<string, string[]>();
  /** Items that no recipe makes: they are to be got. */
  readonly baseItems: readonly string[];
  private readonly depths = new Map<string, number>();

  /** @param tagByItem the tag of each item that has one; its members are items that recipes make */
  constructor(
    readonly recipes: readonly CraftingRecipe[],
    readonly tagByItem: ReadonlyMap<string, string>,
    readonly goal: string,
  ) {
    for (const [item, tag] of tagByItem) {
      this.membersByTag.set(tag, [...(this.membersByTag.get(tag) ?? []), item]);
    }
    for (const recipe of recipes) {
      const { name } = recipe.output;
      this.recipesByOutput.set(name, [...(this.recipesByOutput.get(name) ?? []), recipe]);
      for (const portion of [recipe.output, ...recipe.inputs]) {
        if (!this.membersByTag.has(portion.name)) this.items.add(portion.name);
      }
    }
    this.baseItems = [...this.items].filter((item) => !this.recipesByOutput.has(item));
  }

  /**
   * The recipe that makes `output` out of exactly these portions: each ingredient with its count, a tag by one portion of any member,
   * and nothing else. null when there is none.
   */
  match(output: string, portions: readonly Portion[]): CraftingRecipe | null {
    const fits = ({ inputs }: CraftingRecipe): boolean => {
      const left = [...portions];
      for (const input of inputs) {
        const place = left.findIndex(
          ({ name }) => name === input.name || this.tagByItem.get(name) === input.name,
        );
        if (place < 0 || left[place].count !== input.count) return false;
        left.splice(place, 1);
      }
      return left.length === 0;
    };
    return this.recipesByOutput.get(output)?.find(fits) ?? null;
  }

  /**
   * Levels of recipes under an item or a tag: 0 for an item that is got, else one more than the deepest ingredient of its shallowest
   * recipe; `Infinity` where every recipe needs what it makes.
   */
  depthOf(name: string): number {
    let depth = this.depths.get(name);
    if (depth === undefined) this.depths.set(name, (depth = this.measureDepth(name, new Set())));
    return depth;
  }

  private measureDepth(name: string, above: ReadonlySet<string>): number {
    if (above.has(name)) return Infinity;
    const inside = new Set([...above, name]);
    const members = this.membersByTag.get(name);
    if (members !== undefined) return Math.min(...members.map((member) => this.measureDepth(member, inside)));
    const recipes = this.recipesByOutput.get(name) ?? [];
    if (recipes.length === 0) return 0;
    const depths = recipes.map(({ inputs }) =>
      Math.max(...inputs.map((i) => this.measureDepth(i.name, inside))),
    );
    return 1 + Math.min(...depths);
  }
}

/** Writes a recipe as a command: `craft 4 ash panel using 1 ash log, 2 tin nail`. */
export function formatRecipe({ output, inputs }: CraftingRecipe): string {
  return `craft ${formatPortion(output)} using ${inputs.map(formatPortion).join(', ')}`;
}

export function formatPortion({ name, count }: Portion): string {
  return `${count} ${name}`;
}

/** A task of crafting. */
export interface CraftingTask {
  readonly goal: string;
  /** Commands, in the order in which they are shown. */
  readonly recipes: readonly string[];
  /** The tag of each item that has one. */
  readonly tags: Readonly<Record<string, string>>;
}

const NAME = '[a-z]+(?: [a-z]+)*';
const PORTION = new RegExp(`^([1-9][0-9]?) (${NAME})$`);
const COMMAND = new RegExp(`^craft ([1-9][0-9]? ${NAME}) using (.+)$`);
const MAX_RECIPES = 200;

/**
 * Reads `{ goal: 'ash panel', recipes: ['craft 4 ash panel using 1 ash log', …], tags: { 'ash panel': 'panels' } }`.
 *
 * @throws EnvironmentError `INVALID_TASK` unless recipes are 1 to 200 such commands with counts from 1 to 99 and names of small letters,
 * tags name items that recipes make, no tag is an item, no recipe takes two things that one item could be, and the goal can be made
 */
export function parseCraftingTask(task: Json): RecipeBook {
  const { goal, recipes, tags } = isJsonObject(task) ? task : ({} as Record<string, undefined>);
  if (!Array.isArray(recipes) || recipes.length === 0 || recipes.length > MAX_RECIPES) {
    throw fault('recipes', recipes, `be a list of 1 to ${MAX_RECIPES} commands`);
  }
  const parsed = recipes.map((line) => parseCraftingRecipe(line as Json));
  const tagByItem = new Map<string, string>();
  if (!isJsonObject(tags)) throw fault('tags', tags, 'be an object from items to tags');
  const outputs = new Set(parsed.map(({ output }) => output.name));
  for (const [item, tag] of Object.entries(tags)) {
    if (!outputs.has(item) || typeof tag !== 'string' || !new RegExp(`^${NAME}$`).test(tag)) {
      throw fault(`tags.${item}`, tag, 'be a tag, and its item one that a recipe makes');
    }
    if (outputs.has(tag)) throw fault(`tags.${item}`, tag, 'not be an item that a recipe makes');
    tagByItem.set(item, tag);
  }
  for (const { inputs } of parsed) checkInputs(inputs, tagByItem);
  if (typeof goal !== 'string' || !outputs.has(goal))
    throw fault('goal', goal, 'be an item that a recipe makes');
  const book = new RecipeBook(parsed, tagByItem, goal);
  if (book.depthOf(goal) === Infinity) throw fault('goal', goal, 'be an item that can be made');
  return book;
}

/** Two ingredients that one item could be would make a command ambiguous. */
function checkInputs(inputs: readonly Portion[], tagByItem: ReadonlyMap<string, string>): void {
  const kinds = inputs.map(({ name }) => tagByItem.get(name) ?? name);
  if (
    new Set([...kinds, ...inputs.map(({ name }) => name)]).size < inputs.length ||
    new Set(kinds).size < kinds.length
  ) {
    const taken = inputs.map(({ name }) => name);
    throw fault('recipes', taken, 'not take an item twice, or an item beside its own tag');
  }
}

function parseCraftingRecipe(line: Json): CraftingRecipe {
  const command = typeof line === 'string' ? COMMAND.exec(line) : null;
  if (command === null) throw fault('recipes', line, 'be commands like "craft 1 a using 2 b, 1 c"');
  return {
    output: parsePortion(command[1], line),
    inputs: command[2].split(', ').map((text) => parsePortion(text, line)),
  };
}

function parsePortion(text: string, line: Json): Portion {
  const portion = PORTION.exec(text);
  if (portion === null) throw fault('recipes', line, 'be commands like "craft 1 a using 2 b, 1 c"');
  return { count: Number(portion[1]), name: portion[2] };
}

function fault(field: string, value: unknown, rule: string): EnvironmentError {
  return new EnvironmentError('INVALID_TASK', `task.${field} is ${JSON.stringify(value)}, must ${rule}`);
}
