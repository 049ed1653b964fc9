import type { Json } from '@retrace/trajectory';
import { EnvironmentError } from '../errors.js';
import { DIRECTIONS, directionOffsets } from '../grid/directions.js';

/** Most boxes of a room: the solver enumerates where they can be. */
export const MAX_BOXES = 3;

/** The part of a room that never changes. Cells are numbered row by row from the top left. */
export interface SokobanRoom {
  /** Rows and columns, the outer walls included. */
  readonly side: number;
  /** 1 where a cell is a wall, one entry a cell; the outermost cells all are. */
  readonly walls: Uint8Array;
  /** 1 where a cell is a target; as many as boxes. */
  readonly targets: Uint8Array;
}

/** The part of a room that moves change. Never modified: a move makes another one. */
export interface SokobanState {
  readonly player: number;
  /** Cells of the boxes, ascending. */
  readonly boxes: readonly number[];
}

/**
 * Moves the player by one cell, and a box with it where one is in the way and can be pushed.
 *
 * @param direction index into `DIRECTIONS`
 * @returns the same object when nothing moves, since a wall or a box that cannot be pushed is in the way
 */
export function movePlayer(room: SokobanRoom, state: SokobanState, direction: number): SokobanState {
  const offset = directionOffsets(room.side)[direction];
  const player = state.player + offset;
  if (room.walls[player] === 1) return state;
  if (!state.boxes.includes(player)) return { player, boxes: state.boxes };
  const pushedTo = player + offset;
  if (room.walls[pushedTo] === 1 || state.boxes.includes(pushedTo)) return state;
  return { player, boxes: replaceBox(state.boxes, player, pushedTo) };
}

/** The boxes with one of them moved, ascending. */
export function replaceBox(boxes: readonly number[], from: number, to: number): readonly number[] {
  return boxes.map((cell) => (cell === from ? to : cell)).sort((a, b) => a - b);
}

export function numBoxesOnTargets({ targets }: SokobanRoom, { boxes }: SokobanState): number {
  return boxes.reduce((count, cell) => count + targets[cell], 0);
}

/**
 * Writes a room as rows of characters in the common notation of Sokoban levels: `#` wall, `_` floor, `.` target, `$` box, `*` box on a
 * target, `@` player, `+` player on a target.
 */
export function formatRoom(room: SokobanRoom, state: SokobanState): string[] {
  const cells = Array.from(room.walls, (wall, cell) => {
    if (wall === 1) return '#';
    const onTarget = room.targets[cell] === 1;
    if (cell === state.player) return onTarget ? '+' : '@';
    if (state.boxes.includes(cell)) return onTarget ? '*' : '$';
    return onTarget ? '.' : '_';
  });
  return Array.from({ length: room.side }, (_, row) =>
    cells.slice(row * room.side, (row + 1) * room.side).join(''),
  );
}

/**
 * Reads a room from the task `{ room: ['######', '#@$._#', …] }`. Whether it can be solved is not asked.
 *
 * @param side rows and columns that the environment has words for
 * @throws EnvironmentError `INVALID_TASK` unless it is `side` rows of `side` characters out of `#_.$*@+`, with walls all around, one
 * player, 1 to `MAX_BOXES` boxes, as many targets, and a box that is not on a target yet
 */
export function parseSokobanTask(
  task: Json,
  side: number,
): { readonly room: SokobanRoom; readonly start: SokobanState } {
  const rows = task !== null && typeof task === 'object' && 'room' in task ? task.room : undefined;
  const fault = (rule: string): EnvironmentError =>
    new EnvironmentError('INVALID_TASK', `task.room is ${JSON.stringify(rows)}, must ${rule}`);
  const isRow = (row: unknown): row is string =>
    typeof row === 'string' && row.length === side && /^[#_.$*@+]*$/.test(row);
  if (!Array.isArray(rows) || rows.length !== side || !rows.every(isRow)) {
    throw fault(`be ${side} rows of ${side} characters out of # _ . $ * @ +`);
  }
  const text = rows.join('');
  const cellsOf = (characters: string): number[] =>
    [...text].flatMap((character, cell) => (characters.includes(character) ? [cell] : []));
  const room = {
    side,
    walls: Uint8Array.from(text, (character) => Number(character === '#')),
    targets: Uint8Array.from(text, (character) => Number('.*+'.includes(character))),
  };
  const isOuter = (cell: number): boolean =>
    cell < side || cell >= side * (side - 1) || cell % side === 0 || cell % side === side - 1;
  if (room.walls.some((wall, cell) => wall === 0 && isOuter(cell))) throw fault('have walls all around');
  const players = cellsOf('@+');
  if (players.length !== 1) throw fault(`hold one player, @ or +; it holds ${players.length}`);
  const boxes = cellsOf('$*');
  if (boxes.length < 1 || boxes.length > MAX_BOXES) {
    throw fault(`hold 1 to ${MAX_BOXES} boxes, $ or *; it holds ${boxes.length}`);
  }
  const numTargets = cellsOf('.*+').length;
  if (numTargets !== boxes.length) {
    throw fault(`hold as many targets as boxes; it holds ${numTargets} and ${boxes.length}`);
  }
  const start = { player: players[0], boxes };
  if (numBoxesOnTargets(room, start) === boxes.length) throw fault('have a box that is not on a target');
  return { room, start };
}

/** Indices of `DIRECTIONS`. */
export const DIRECTION_INDICES: readonly number[] = DIRECTIONS.map((_, direction) => direction);
