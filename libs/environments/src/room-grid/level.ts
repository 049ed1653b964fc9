import { isJsonObject, type Json } from '@retrace/trajectory';
import { EnvironmentError } from '../errors.js';
import { readMission, type Mission, type MissionTask } from './mission.js';
import { COLORS, DOOR_STATES, KINDS, type DoorState, type Thing, type ThingState } from './thing.js';

/** Whose rules end a task: `retrace` ends it with the move that solves it; `agentgym` as AgentGym's server does, successes that it loses included. */
export const GRID_RULES = ['retrace', 'agentgym'] as const;
export type GridRulesName = (typeof GRID_RULES)[number];

/** A checked task: a grid of square rooms, and what is to be done in it. */
export interface Level {
  readonly family: string;
  readonly rules: GridRulesName;
  readonly width: number;
  readonly height: number;
  /** Row by row, 1 for a wall. */
  readonly walls: Uint8Array;
  readonly things: readonly Thing[];
  /** By thing: index of the box that it is in, or −1. */
  readonly boxes: readonly number[];
  readonly agent: { readonly x: number; readonly y: number; readonly heading: number };
  /** Index of what the agent carries at the start; −1 for nothing. */
  readonly carrying: number;
  readonly mission: Mission;
  /** Moves that the reward is measured by. */
  readonly maxMoves: number;
}

/** The task as JSON. */
export interface LevelTask {
  readonly family: string;
  readonly rules: GridRulesName;
  readonly roomSize: number;
  /** Rows of `#` and `.`. */
  readonly walls: readonly string[];
  /** Kind, color, x, y; state of a door, `boxed` for what is in the box on its cell, else null. */
  readonly things: readonly (readonly [string, string, number, number, DoorState | 'boxed' | null])[];
  readonly agent: readonly [x: number, y: number, heading: number];
  /** Index of the thing that is carried at the start, whose place is where it was taken from; −1 for none. */
  readonly carrying: number;
  readonly mission: MissionTask;
  readonly maxMoves: number;
}

const MAX_SIDE = 25;
const MOST_MOVES = 100_000;

/** @throws EnvironmentError `INVALID_TASK`, naming the field, unless the task is a `LevelTask` whose things stand on its floor */
export function parseLevelTask(task: Json): Level {
  const fields = (isJsonObject(task) ? task : {}) as Partial<Record<keyof LevelTask, Json>>;
  const fail = (field: keyof LevelTask, rule: string): never => {
    throw new EnvironmentError(
      'INVALID_TASK',
      `task.${field} is ${JSON.stringify(fields[field])}, must ${rule}`,
    );
  };
  const { family, roomSize, maxMoves } = fields;
  if (typeof family !== 'string') return fail('family', 'be a text');
  const rules = GRID_RULES.find((name) => name === fields.rules);
  if (rules === undefined) return fail('rules', `be ${GRID_RULES.join(' or ')}`);
  if (!isInteger(roomSize, MAX_SIDE) || roomSize < 4) return fail('roomSize', `be from 4 to ${MAX_SIDE}`);
  const rows = readRows(fields.walls);
  if (rows === null) return fail('walls', `be 4 to ${MAX_SIDE} rows of equally many # and .`);
  const [width, height] = [rows[0].length, rows.length];
  if ((width - 1) % (roomSize - 1) !== 0 || (height - 1) % (roomSize - 1) !== 0) {
    return fail('walls', 'be whole rooms of roomSize');
  }
  const isFloor = (x: unknown, y: unknown): boolean =>
    isInteger(x, width - 1) && isInteger(y, height - 1) && rows[y][x] === '.';
  const things = readThings(fields.things, isFloor);
  if (things === null) {
    return fail('things', 'be a list of [kind, color, x, y, state of a door, boxed or null] on the floor');
  }
  const boxes = things.map((thing) => (thing.state === 'boxed' ? boxAt(things, thing) : -1));
  const standing = things.filter(({ state }) => state !== 'boxed');
  const fault = placesFault(things, boxes, standing);
  if (fault !== null) return fail('things', fault);
  const agent = readAgent(fields.agent, isFloor, standing);
  if (agent === null) return fail('agent', 'be [x, y, heading 0 to 3] on free floor');
  const carrying = fields.carrying ?? -1;
  if (carrying !== -1 && !(isInteger(carrying, things.length - 1) && things[carrying].state === null)) {
    return fail('carrying', 'be the index of a thing that can be carried, or -1');
  }
  const mission = readMission(fields.mission, { things, agent, roomSize });
  if (mission === null) {
    return fail(
      'mission',
      'have one or two parts of one or two [verb, description of things, what to put it beside or null, whether a wrong one fails]',
    );
  }
  if (!isInteger(maxMoves, MOST_MOVES) || maxMoves < 1) return fail('maxMoves', `be from 1 to ${MOST_MOVES}`);
  const walls = Uint8Array.from(rows.join(''), (cell) => Number(cell === '#'));
  return {
    family,
    rules,
    width,
    height,
    walls,
    things,
    boxes,
    agent,
    carrying: carrying as number,
    mission,
    maxMoves,
  };
}

function isInteger(value: unknown, most: number): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most;
}

function readRows(value: Json | undefined): readonly string[] | null {
  const isRow = (row: unknown, _: number, rows: readonly unknown[]): boolean =>
    typeof row === 'string' && /^[#.]{4,25}$/.test(row) && row.length === (rows[0] as string).length;
  const areRows = Array.isArray(value) && value.length >= 4 && value.length <= MAX_SIDE && value.every(isRow);
  return areRows ? (value as string[]) : null;
}

function readThings(list: Json | undefined, isFloor: (x: unknown, y: unknown) => boolean): Thing[] | null {
  const isThing = (item: unknown): boolean => {
    if (!Array.isArray(item) || item.length !== 5) return false;
    const [kind, color, x, y, state] = item as unknown[];
    const hasState =
      kind === 'door' ? DOOR_STATES.includes(state as DoorState) : state === null || state === 'boxed';
    return KINDS.includes(kind as string) && COLORS.includes(color as 'red') && isFloor(x, y) && hasState;
  };
  if (!Array.isArray(list) || !list.every(isThing)) return null;
  const rows = list as unknown as readonly (readonly [string, string, number, number, ThingState | null])[];
  return rows.map(([kind, color, x, y, state]) => ({ kind, color, x, y, state }));
}

/** The rule that the places of things break; null for none. */
function placesFault(
  things: readonly Thing[],
  boxes: readonly number[],
  standing: readonly Thing[],
): string | null {
  if (things.some(({ state }, i) => state === 'boxed' && boxes[i] < 0)) return 'be boxed only where a box is';
  return new Set(standing.map(({ x, y }) => `${x},${y}`)).size < standing.length ? 'stand apart' : null;
}

function boxAt(things: readonly Thing[], { x, y }: Thing): number {
  return things.findIndex(
    (thing) => thing.kind === 'box' && thing.state === null && thing.x === x && thing.y === y,
  );
}

function readAgent(
  value: Json | undefined,
  isFloor: (x: unknown, y: unknown) => boolean,
  standing: readonly Thing[],
): Level['agent'] | null {
  if (!Array.isArray(value) || !isFloor(value[0], value[1]) || !isInteger(value[2], 3)) return null;
  const [x, y, heading] = value as [number, number, number];
  return standing.some((thing) => thing.x === x && thing.y === y) ? null : { x, y, heading };
}
