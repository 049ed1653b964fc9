import type { Json } from '@retrace/trajectory';
import { EnvironmentError } from '../errors.js';
import { directionOffsets } from '../grid/directions.js';

/** Most rows and columns of a maze. */
export const MAX_SIDE = 40;

/** Steps to the goal from a cell that cannot reach it. */
export const UNREACHABLE = Number.POSITIVE_INFINITY;

/** A maze. Cells are numbered row by row from the top left. */
export interface MazeMap {
  readonly width: number;
  /** 1 where a cell is a wall, one entry a cell; the outermost cells all are. */
  readonly walls: Uint8Array;
  readonly start: number;
  readonly goal: number;
}

/** The cell that a move leads to; a wall keeps the player in place. @param direction index into `DIRECTIONS` */
export function walk(
  { width, walls }: Pick<MazeMap, 'width' | 'walls'>,
  cell: number,
  direction: number,
): number {
  const next = cell + directionOffsets(width)[direction];
  return walls[next] === 1 ? cell : next;
}

/** Fewest moves from every cell to the goal, by breadth-first search from the goal; `UNREACHABLE` for walls and closed rooms. */
export function distancesToGoal({ width, walls, goal }: Omit<MazeMap, 'start'>): readonly number[] {
  const distances = new Array<number>(walls.length).fill(UNREACHABLE);
  distances[goal] = 0;
  const queue = [goal];
  for (const cell of queue) {
    for (const offset of directionOffsets(width)) {
      const before = cell + offset;
      if (walls[before] === 1 || distances[before] !== UNREACHABLE) continue;
      distances[before] = distances[cell] + 1;
      queue.push(before);
    }
  }
  return distances;
}

/** The maze as rows of characters: `#` wall, `_` open, `S` start, `G` goal. */
export function formatMaze({ width, walls, start, goal }: MazeMap): string[] {
  const cells = Array.from(walls, (wall, cell) => {
    if (cell === start) return 'S';
    if (cell === goal) return 'G';
    return wall === 1 ? '#' : '_';
  });
  return Array.from({ length: walls.length / width }, (_, row) =>
    cells.slice(row * width, (row + 1) * width).join(''),
  );
}

/**
 * Reads a maze from the task `{ maze: ['####', '#SG#', '####'] }`.
 *
 * @throws EnvironmentError `INVALID_TASK` unless it is 3 to `MAX_SIDE` rows of equal length, up to `MAX_SIDE` too, of `#_SG`, with walls all
 * around, one `S`, one `G` and a way between them
 */
export function parseMazeTask(task: Json): MazeMap {
  const rows = task !== null && typeof task === 'object' && 'maze' in task ? task.maze : undefined;
  const fault = (rule: string): EnvironmentError =>
    new EnvironmentError('INVALID_TASK', `task.maze is ${JSON.stringify(rows)}, must ${rule}`);
  const isSide = (length: number): boolean => length >= 3 && length <= MAX_SIDE;
  const isRow = (row: unknown): row is string => typeof row === 'string' && /^[#_SG]*$/.test(row);
  const areRows = Array.isArray(rows) && isSide(rows.length) && rows.every(isRow) && isSide(rows[0].length);
  if (!areRows || rows.some((row) => row.length !== rows[0].length)) {
    throw fault(`be 3 to ${MAX_SIDE} rows of equal length, 3 to ${MAX_SIDE} characters out of # _ S G`);
  }
  const width = rows[0].length;
  const text = rows.join('');
  if (text.split('S').length !== 2 || text.split('G').length !== 2) throw fault('hold one S and one G');
  const walls = Uint8Array.from(text, (character) => Number(character === '#'));
  const isOuter = (cell: number): boolean =>
    cell < width || cell >= text.length - width || cell % width === 0 || cell % width === width - 1;
  if (walls.some((wall, cell) => wall === 0 && isOuter(cell))) throw fault('have walls all around');
  const map = { width, walls, start: text.indexOf('S'), goal: text.indexOf('G') };
  if (distancesToGoal(map)[map.start] === UNREACHABLE) throw fault('have a way from S to G');
  return map;
}
