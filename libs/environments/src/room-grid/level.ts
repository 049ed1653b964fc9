import type { Json } from '@retrace/trajectory';
import { EnvironmentError } from '../errors.js';

export const COLORS = ['red', 'green', 'blue', 'purple', 'yellow', 'grey'] as const;
/** Kinds that can be carried. */
export const MOVABLE_KINDS = ['key', 'ball', 'box'] as const;
const KINDS: readonly string[] = [...MOVABLE_KINDS, 'door'];
export const DOOR_STATES = ['open', 'closed', 'locked'] as const;
export type DoorState = (typeof DOOR_STATES)[number];

/** Steps along each heading: right, down, left, up. Turning right adds 1. */
export const HEADINGS: readonly (readonly [x: number, y: number])[] = [
  [1, 0],
  [0, 1],
  [-1, 0],
  [0, -1],
];

/** An object; a door also has a state. Walls belong to the level. */
export interface Thing {
  readonly kind: string;
  readonly color: string;
  readonly x: number;
  readonly y: number;
  /** null for what is no door. */
  readonly door: DoorState | null;
}

export type Verb = 'go to' | 'pick up' | 'open' | 'put';

export interface Instruction {
  readonly verb: Verb;
  readonly target: Description;
  /** Where `put` puts it: beside this; null for other verbs. */
  readonly beside: Description | null;
}

export interface Description {
  readonly color: string;
  readonly kind: string;
}

/** Order of two instructions: `then` the first first, `after` the second first, `and` any. */
export type Join = 'then' | 'after' | 'and';

/** A checked task: a grid of square rooms, and what is to be done in it. */
export interface Level {
  readonly family: string;
  readonly width: number;
  readonly height: number;
  /** Row by row, 1 for a wall. */
  readonly walls: Uint8Array;
  readonly things: readonly Thing[];
  readonly agent: { readonly x: number; readonly y: number; readonly heading: number };
  readonly instructions: readonly Instruction[];
  readonly join: Join;
  /** Moves that the reward is measured by: as BabyAI, (cells of a room) × rooms for each place that must be walked to. */
  readonly maxMoves: number;
}

/** The task as JSON. */
export interface LevelTask {
  readonly family: string;
  readonly roomSize: number;
  /** Rows of `#` and `.`. */
  readonly walls: readonly string[];
  /** Kind, color, x, y, state of a door or null. */
  readonly things: readonly (readonly [string, string, number, number, DoorState | null])[];
  readonly agent: readonly [x: number, y: number, heading: number];
  /** Verb, target, and for `put` what it is put beside. */
  readonly instructions: readonly (readonly [Verb, string, string | null])[];
  readonly join: Join;
}

const MAX_SIDE = 25;
const VERBS: readonly string[] = ['go to', 'pick up', 'open', 'put'];

export function matches({ color, kind }: Description, thing: Description): boolean {
  return color === thing.color && kind === thing.kind;
}

/** @throws EnvironmentError `INVALID_TASK`, naming the field, unless the task is a `LevelTask` whose things stand on its floor */
export function parseLevelTask(task: Json): Level {
  const isObject = task !== null && typeof task === 'object' && !Array.isArray(task);
  const fields = (isObject ? task : {}) as Partial<Record<keyof LevelTask, Json>>;
  const fail = (field: keyof LevelTask, rule: string): never => {
    throw new EnvironmentError(
      'INVALID_TASK',
      `task.${field} is ${JSON.stringify(fields[field])}, must ${rule}`,
    );
  };
  const isInteger = (value: unknown, most: number): value is number =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most;
  const { family, walls, roomSize } = fields;
  if (typeof family !== 'string') return fail('family', 'be a text');
  if (!isInteger(roomSize, MAX_SIDE) || roomSize < 4) return fail('roomSize', `be from 4 to ${MAX_SIDE}`);
  const isRow = (row: unknown, _: number, rows: readonly unknown[]): boolean =>
    typeof row === 'string' && /^[#.]{4,25}$/.test(row) && row.length === (rows[0] as string).length;
  if (!Array.isArray(walls) || walls.length < 4 || walls.length > MAX_SIDE || !walls.every(isRow)) {
    return fail('walls', `be 4 to ${MAX_SIDE} rows of equally many # and .`);
  }
  const rows = walls as readonly string[];
  const [width, height] = [rows[0].length, rows.length];
  if ((width - 1) % (roomSize - 1) !== 0 || (height - 1) % (roomSize - 1) !== 0) {
    return fail('walls', 'be whole rooms of roomSize');
  }
  const isFloor = (x: unknown, y: unknown): boolean =>
    isInteger(x, width - 1) && isInteger(y, height - 1) && rows[y][x] === '.';
  const things = readThings(fields.things, isFloor);
  if (things === null) {
    return fail('things', 'be a list of [kind, color, x, y, state of a door or null] on the floor');
  }
  if (new Set(things.map(({ x, y }) => `${x},${y}`)).size < things.length)
    return fail('things', 'stand apart');
  const agent = fields.agent as LevelTask['agent'] | undefined;
  const isFree =
    Array.isArray(agent) &&
    isFloor(agent[0], agent[1]) &&
    isInteger(agent[2], 3) &&
    things.every(({ x, y }) => x !== agent[0] || y !== agent[1]);
  if (!isFree) return fail('agent', 'be [x, y, heading 0 to 3] on free floor');
  const instructions = readInstructions(fields.instructions, things);
  if (instructions === null) {
    return fail(
      'instructions',
      'be one or two of [verb, "color kind" of a thing, the same to put it beside or null]',
    );
  }
  const join = fields.join as Join;
  if (!['then', 'after', 'and'].includes(join)) return fail('join', 'be then, after or and');
  const numWalks = instructions.reduce((sum, { verb }) => sum + (verb === 'put' ? 2 : 1), 0);
  const numRooms = ((width - 1) / (roomSize - 1)) * ((height - 1) / (roomSize - 1));
  return {
    family, width, height, things, instructions, join,
    walls: Uint8Array.from(rows.join(''), (cell) => Number(cell === '#')),
    agent: { x: (agent as LevelTask['agent'])[0], y: (agent as LevelTask['agent'])[1], heading: (agent as LevelTask['agent'])[2] },
    maxMoves: numWalks * roomSize ** 2 * numRooms,
  }; // prettier-ignore
}

function readThings(list: Json | undefined, isFloor: (x: unknown, y: unknown) => boolean): Thing[] | null {
  const isThing = (item: unknown): boolean => {
    if (!Array.isArray(item) || item.length !== 5) return false;
    const [kind, color, x, y, door] = item as unknown[];
    const hasState = kind === 'door' ? DOOR_STATES.includes(door as DoorState) : door === null;
    return KINDS.includes(kind as string) && COLORS.includes(color as 'red') && isFloor(x, y) && hasState;
  };
  if (!Array.isArray(list) || !list.every(isThing)) return null;
  const rows = list as unknown as LevelTask['things'];
  return rows.map(([kind, color, x, y, door]) => ({ kind, color, x, y, door }));
}

function readInstructions(list: Json | undefined, things: readonly Thing[]): Instruction[] | null {
  const descriptionOf = (text: unknown): Description | null => {
    const [color, kind, ...rest] = typeof text === 'string' ? text.split(' ') : [''];
    const isThere = things.some((thing) => matches({ color, kind }, thing));
    return rest.length === 0 && isThere ? { color, kind } : null;
  };
  const instructionOf = (item: unknown): Instruction | null => {
    const [verb, about, place] = Array.isArray(item) ? (item as unknown[]) : [];
    const target = descriptionOf(about);
    const beside = descriptionOf(place);
    if (!VERBS.includes(verb as string) || target === null || (verb === 'put') !== (beside !== null))
      return null;
    if ((verb === 'open') !== (target.kind === 'door') && verb !== 'go to') return null;
    return { verb: verb as Verb, target, beside };
  };
  const read = Array.isArray(list) ? list.map(instructionOf) : [];
  const instructions = read.filter((instruction) => instruction !== null);
  return instructions.length === read.length && [1, 2].includes(read.length) ? instructions : null;
}

/** The mission as AgentGym words it, which says `and` for every order. */
export function describeMission({ instructions, join, things }: Level): string {
  const nameOf = (description: Description): string => {
    const article = things.filter((thing) => matches(description, thing)).length > 1 ? 'a' : 'the';
    return `${article} ${description.color} ${description.kind}`;
  };
  const texts = instructions.map(({ verb, target, beside }) =>
    beside === null ? `${verb} ${nameOf(target)}` : `put ${nameOf(target)} next to ${nameOf(beside)}`,
  );
  return texts.join(join === 'then' ? ', and ' : ' and ');
}
