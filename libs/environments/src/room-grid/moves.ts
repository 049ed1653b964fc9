import { HEADINGS, matches, type Instruction, type Level, type Thing } from './level.js';

/** Moves of BabyAI: turn left, turn right, forward, pick up, drop, toggle. */
export const LEFT = 0;
export const RIGHT = 1;
export const FORWARD = 2;
export const PICK_UP = 3;
export const DROP = 4;
export const TOGGLE = 5;

/** Everything that moves change. Never modified: a move makes another one. */
export interface GridState {
  readonly x: number;
  readonly y: number;
  readonly heading: number;
  /** Index of the thing that is carried; −1 for none. */
  readonly carrying: number;
  /** Where things are now; one that is carried keeps the place it was taken from. */
  readonly things: readonly Thing[];
  /** Whether each instruction was carried out. */
  readonly isFulfilled: readonly boolean[];
  readonly numMoves: number;
}

export function startState({ agent, things, instructions }: Level): GridState {
  return { ...agent, carrying: -1, things, isFulfilled: instructions.map(() => false), numMoves: 0 };
}

/** Index of the thing on a cell; −1 for none. */
export function thingAt({ things, carrying }: GridState, x: number, y: number): number {
  return things.findIndex((thing, index) => index !== carrying && thing.x === x && thing.y === y);
}

export function isWall({ walls, width, height }: Level, x: number, y: number): boolean {
  return x < 0 || y < 0 || x >= width || y >= height || walls[y * width + x] === 1;
}

/** The cell in front of the agent. */
export function frontOf({ x, y, heading }: Pick<GridState, 'x' | 'y' | 'heading'>): {
  readonly x: number;
  readonly y: number;
} {
  return { x: x + HEADINGS[heading][0], y: y + HEADINGS[heading][1] };
}

/** Carries out one move by the rules of MiniGrid, and notes which instructions it fulfils. A move that can't be made counts, too. */
export function makeMove(level: Level, state: GridState, move: number): GridState {
  const moved = { ...change(level, state, move), numMoves: state.numMoves + 1 };
  return { ...moved, isFulfilled: fulfilled(level, state, moved, move) };
}

export function isSolved({ isFulfilled }: GridState): boolean {
  return isFulfilled.every((value) => value);
}

function change(level: Level, state: GridState, move: number): GridState {
  if (move === LEFT) return { ...state, heading: (state.heading + 3) % 4 };
  if (move === RIGHT) return { ...state, heading: (state.heading + 1) % 4 };
  const front = frontOf(state);
  const index = thingAt(state, front.x, front.y);
  const thing = index < 0 ? null : state.things[index];
  if (move === FORWARD) {
    const isFree = !isWall(level, front.x, front.y) && (thing === null || thing.door === 'open');
    return isFree ? { ...state, ...front } : state;
  }
  if (move === PICK_UP) {
    return thing === null || thing.kind === 'door' || state.carrying >= 0
      ? state
      : { ...state, carrying: index };
  }
  if (move === DROP) {
    if (thing !== null || isWall(level, front.x, front.y) || state.carrying < 0) return state;
    return { ...state, carrying: -1, things: replace(state.things, state.carrying, front) };
  }
  return thing === null ? state : toggle(state, index);
}

function toggle(state: GridState, index: number): GridState {
  const { door, color } = state.things[index];
  if (door === null) return state;
  const held = state.carrying < 0 ? null : state.things[state.carrying];
  if (door === 'locked' && !(held?.kind === 'key' && held.color === color)) return state;
  return { ...state, things: replace(state.things, index, { door: door === 'open' ? 'closed' : 'open' }) };
}

function replace(things: readonly Thing[], index: number, fields: Partial<Thing>): Thing[] {
  return things.map((thing, i) => (i === index ? { ...thing, ...fields } : thing));
}

function fulfilled(level: Level, before: GridState, after: GridState, move: number): readonly boolean[] {
  const { instructions, join } = level;
  const now = instructions.map((instruction) => isFulfilledBy(instruction, before, after, move));
  const known = before.isFulfilled;
  if (instructions.length === 1 || join === 'and') return known.map((value, i) => value || now[i]);
  const [first, second] = join === 'then' ? [0, 1] : [1, 0];
  const flags = [...known];
  flags[first] ||= now[first];
  flags[second] ||= flags[first] && now[second];
  return flags;
}

/** Whether this move fulfils an instruction, as BabyAI's verifiers decide. */
function isFulfilledBy(
  { verb, target, beside }: Instruction,
  before: GridState,
  after: GridState,
  move: number,
): boolean {
  const front = frontOf(after);
  const index = thingAt(after, front.x, front.y);
  const thing = index < 0 ? null : after.things[index];
  if (verb === 'go to') return thing !== null && matches(target, thing);
  if (verb === 'open') return move === TOGGLE && thing?.door === 'open' && matches(target, thing);
  if (verb === 'pick up') {
    return (
      move === PICK_UP &&
      before.carrying < 0 &&
      after.carrying >= 0 &&
      matches(target, after.things[after.carrying])
    );
  }
  if (move !== DROP || before.carrying < 0 || after.carrying >= 0 || beside === null) return false;
  const dropped = after.things[before.carrying];
  const isBeside = (other: Thing): boolean =>
    matches(beside, other) && Math.abs(other.x - dropped.x) + Math.abs(other.y - dropped.y) === 1;
  return matches(target, dropped) && after.things.some(isBeside);
}
