import { type Pcg32, shuffle } from '@retrace/random';
import { directionOffsets } from '../grid/directions.js';
import { replaceBox, type SokobanRoom, type SokobanState } from './sokoban-room.js';
import { stateKey } from './solve-room.js';

export interface RoomRules {
  readonly side: number;
  readonly numBoxes: number;
  /** Fewest and most moves of the shortest solution. */
  readonly minMoves: number;
  readonly maxMoves: number;
  /** Whether a room may be used, asked before starts are searched (default all). */
  readonly accepts?: (room: SokobanRoom) => boolean;
}

/** Shapes of floor that the walk stamps around itself (gym-sokoban's five), as offsets of row and column. */
const STAMPS: readonly (readonly (readonly [number, number])[])[] = [
  [[0, -1], [0, 0], [0, 1]],
  [[-1, 0], [0, 0], [1, 0]],
  [[0, -1], [0, 0], [1, 0]],
  [[0, -1], [0, 0], [1, -1], [1, 0]],
  [[0, 0], [0, 1], [1, 0]],
]; // oxfmt-ignore

const TURN_PROBABILITY = 0.35;

/** Steps of the walk for each row and column of the room. */
const STEPS_PER_SIDE = 1.7;

/**
 * Draws a room that can be solved in `minMoves` to `maxMoves` moves. The floor is the track of a random walk and the targets are random floor
 * cells, as in gym-sokoban. From the solved room all pulls are played backwards, and the start is a state drawn from those that have no
 * box on a target: first the number of moves that it needs, then one of the states that need as many. gym-sokoban searches for the state
 * whose boxes are displaced most instead, so its rooms are harder on average.
 */
export function drawRoom(
  random: Pcg32,
  rules: RoomRules,
): { readonly room: SokobanRoom; readonly start: SokobanState } {
  for (;;) {
    const walls = drawWalls(random, rules.side);
    const floor = [...walls.keys()].filter((cell) => walls[cell] === 0);
    if (floor.length < 2 * rules.numBoxes + 1) continue;
    shuffle(floor, random);
    const targets = new Uint8Array(walls.length);
    for (const cell of floor.slice(0, rules.numBoxes)) targets[cell] = 1;
    const room = { side: rules.side, walls, targets };
    if (rules.accepts?.(room) === false) continue;
    const startsByMoves = statesBefore(room, rules.maxMoves)
      .slice(rules.minMoves - 1)
      .map((states) => states.filter(({ boxes }) => boxes.every((cell) => targets[cell] === 0)))
      .filter((states) => states.length > 0);
    if (startsByMoves.length === 0) continue;
    const starts = startsByMoves[random.nextBelow(startsByMoves.length)];
    return { room, start: starts[random.nextBelow(starts.length)] };
  }
}

/** Walls with the track of a random walk in them. */
function drawWalls(random: Pcg32, side: number): Uint8Array {
  const walls = new Uint8Array(side * side).fill(1);
  const clamp = (x: number): number => Math.min(side - 2, Math.max(1, x));
  let row = 1 + random.nextBelow(side - 2);
  let column = 1 + random.nextBelow(side - 2);
  const steps = [[-1, 0], [1, 0], [0, -1], [0, 1]] as const; // oxfmt-ignore
  let direction = random.nextBelow(steps.length);
  for (let step = 0; step < Math.floor(STEPS_PER_SIDE * 2 * side); step++) {
    if (random.nextFloat() < TURN_PROBABILITY) direction = random.nextBelow(steps.length);
    row = clamp(row + steps[direction][0]);
    column = clamp(column + steps[direction][1]);
    for (const [rowOffset, columnOffset] of STAMPS[random.nextBelow(STAMPS.length)]) {
      const [stampedRow, stampedColumn] = [row + rowOffset, column + columnOffset];
      const isInside = clamp(stampedRow) === stampedRow && clamp(stampedColumn) === stampedColumn;
      if (isInside) walls[stampedRow * side + stampedColumn] = 0;
    }
  }
  return walls;
}

/**
 * States from which the room can be solved, by the number of moves that they need, 1 to `maxMoves`: a breadth-first search from the
 * solved states, with the player on any free cell, in which the player steps back and takes the box in front along, or leaves it.
 */
function statesBefore(room: SokobanRoom, maxMoves: number): readonly (readonly SokobanState[])[] {
  const boxes = [...room.targets.keys()].filter((cell) => room.targets[cell] === 1);
  const solved = [...room.walls.keys()].flatMap((player) =>
    isFree(room, boxes, player) ? [{ player, boxes }] : [],
  );
  const seen = new Set(solved.map((state) => stateKey(room, state)));
  const found: (readonly SokobanState[])[] = [];
  for (let front: readonly SokobanState[] = solved; found.length < maxMoves && front.length > 0;) {
    const before: SokobanState[] = [];
    for (const state of front.flatMap((after) => predecessors(room, after))) {
      const key = stateKey(room, state);
      if (seen.has(key)) continue;
      seen.add(key);
      before.push(state);
    }
    found.push(before);
    front = before;
  }
  return found;
}

/** States from which one move leads to this one. */
function predecessors(room: SokobanRoom, { player, boxes }: SokobanState): SokobanState[] {
  return directionOffsets(room.side).flatMap((offset) => {
    const cameFrom = player - offset;
    if (!isFree(room, boxes, cameFrom)) return [];
    const walked = { player: cameFrom, boxes };
    const inFront = player + offset;
    if (!boxes.includes(inFront)) return [walked];
    return [walked, { player: cameFrom, boxes: replaceBox(boxes, inFront, player) }];
  });
}

function isFree(room: SokobanRoom, boxes: readonly number[], cell: number): boolean {
  return room.walls[cell] === 0 && !boxes.includes(cell);
}
