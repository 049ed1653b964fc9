import type { Json } from '@retrace/trajectory';
import type { Pcg32 } from '@retrace/random';
import { EnvironmentError } from '../errors.js';

/** Lakes are SIDE × SIDE cells, numbered row by row from the top left. */
export const SIDE = 4;
export const NUM_CELLS = SIDE * SIDE;

export const MOVES = ['left', 'down', 'right', 'up'] as const;

/** Steps to the goal from a cell that cannot reach it. */
export const UNREACHABLE = 127;

/** Where a move leads from a cell: `NEIGHBOURS[cell * 4 + move]`; the edges hold the player in place. */
const NEIGHBOURS = Uint8Array.from({ length: NUM_CELLS * MOVES.length }, (_, i) => {
  const cell = Math.floor(i / MOVES.length);
  const column = cell % SIDE;
  const row = Math.floor(cell / SIDE);
  const [columnStep, rowStep] = [
    [-1, 0],
    [0, 1],
    [1, 0],
    [0, -1],
  ][i % MOVES.length];
  const clamp = (x: number): number => Math.min(SIDE - 1, Math.max(0, x));
  return clamp(row + rowStep) * SIDE + clamp(column + columnStep);
});

/** The cell that a move (0 … 3, order of `MOVES`) leads to. */
export function neighbour(cell: number, move: number): number {
  return NEIGHBOURS[cell * MOVES.length + move];
}

/** Rows plus columns between two cells. */
export function manhattanDistance(a: number, b: number): number {
  return Math.abs((a % SIDE) - (b % SIDE)) + Math.abs(Math.floor(a / SIDE) - Math.floor(b / SIDE));
}

/** A lake: which cells are holes, where the player starts, where the goal is. */
export interface LakeMap {
  /** 1 where a cell is a hole, one entry a cell. */
  readonly holes: Uint8Array;
  readonly start: number;
  readonly goal: number;
}

/**
 * Fewest moves from every cell to the goal without entering a hole, by breadth-first search from the goal;
 * `UNREACHABLE` for holes and for cells that are cut off.
 */
export function distancesToGoal(map: LakeMap): Uint8Array {
  const distances = new Uint8Array(NUM_CELLS).fill(UNREACHABLE);
  distances[map.goal] = 0;
  const queue = [map.goal];
  for (const cell of queue) {
    for (let move = 0; move < MOVES.length; move++) {
      // On a grid with clamped edges every neighbouring cell can be entered.
      const before = neighbour(cell, move);
      if (map.holes[before] === 0 && distances[before] === UNREACHABLE) {
        distances[before] = distances[cell] + 1;
        queue.push(before);
      }
    }
  }
  return distances;
}

export interface LakeRules {
  /** Chance of a cell to be frozen rather than a hole. */
  readonly frozenProbability: number;
  /** Longest shortest path that counts as solvable. */
  readonly maxMoves: number;
}

/**
 * Draws a solvable lake: every cell a hole with probability 1 − frozenProbability, start and goal on
 * distinct random cells (never holes); drawn again until a path of at most `maxMoves` leads to the goal.
 */
export function drawLakeMap(random: Pcg32, rules: LakeRules): LakeMap {
  for (;;) {
    const holes = new Uint8Array(NUM_CELLS);
    for (let cell = 0; cell < NUM_CELLS; cell++)
      holes[cell] = random.nextFloat() < rules.frozenProbability ? 0 : 1;
    const start = random.nextBelow(NUM_CELLS);
    const goal = (start + 1 + random.nextBelow(NUM_CELLS - 1)) % NUM_CELLS;
    holes[start] = 0;
    holes[goal] = 0;
    const map = { holes, start, goal };
    if (distancesToGoal(map)[start] <= rules.maxMoves) return map;
  }
}

/** The lake as rows of characters: `S` start, `G` goal, `O` hole, `_` frozen. */
export function formatLakeMap(map: LakeMap): string[] {
  const rows: string[] = [];
  for (let row = 0; row < SIDE; row++) {
    let text = '';
    for (let cell = row * SIDE; cell < (row + 1) * SIDE; cell++) {
      if (cell === map.start) text += 'S';
      else if (cell === map.goal) text += 'G';
      else text += map.holes[cell] === 1 ? 'O' : '_';
    }
    rows.push(text);
  }
  return rows;
}

/**
 * Reads a lake from the task `{ map: ['S___', …] }`.
 *
 * @throws EnvironmentError `INVALID_TASK` unless it is four rows of four of `S`, `G`, `O`, `_` with one `S` and one `G`
 */
export function parseLakeTask(task: Json): LakeMap {
  const rows = task !== null && typeof task === 'object' && 'map' in task ? task.map : undefined;
  if (!Array.isArray(rows) || rows.length !== SIDE || !rows.every(isRow)) {
    throw new EnvironmentError(
      'INVALID_TASK',
      `task.map is ${JSON.stringify(rows)}, must be ${SIDE} rows of ${SIDE} characters out of S, G, O, _`,
    );
  }
  const text = rows.join('');
  if (text.split('S').length !== 2 || text.split('G').length !== 2) {
    throw new EnvironmentError(
      'INVALID_TASK',
      `task.map is ${JSON.stringify(rows)}, must hold one S and one G`,
    );
  }
  return {
    holes: Uint8Array.from(text, (character) => (character === 'O' ? 1 : 0)),
    start: text.indexOf('S'),
    goal: text.indexOf('G'),
  };
}

function isRow(row: unknown): row is string {
  return typeof row === 'string' && /^[SGO_]{4}$/.test(row);
}
