import type { Pcg32 } from '@retrace/random';
import { UNREACHABLE, distancesToGoal, type MazeMap } from './maze-map.js';

export interface DrawnMazeRules {
  /** Rows and columns of the maze, odd. */
  readonly side: number;
  /** Chance of a wall between two neighbouring rooms to be opened in addition, which makes loops. */
  readonly loopProbability: number;
  /** Fewest and most moves of the shortest way. */
  readonly minMoves: number;
  readonly maxMoves: number;
  /** Whether walls and goal may be used, asked before the start is drawn (default all). */
  readonly accepts?: (maze: Omit<MazeMap, 'start'>) => boolean;
}

/**
 * Draws a maze. Rooms are the cells with odd row and column; a depth-first walk that turns back at dead ends joins all of them by one way
 * each, then some walls more are opened. The goal is a random open cell, the start one from which the goal is `minMoves` to `maxMoves` away.
 */
export function drawMaze(random: Pcg32, rules: DrawnMazeRules): MazeMap {
  for (;;) {
    const walls = drawWalls(random, rules);
    const open = [...walls.keys()].filter((cell) => walls[cell] === 0);
    const maze = { width: rules.side, walls, goal: open[random.nextBelow(open.length)] };
    if (rules.accepts?.(maze) === false) continue;
    const distances = distancesToGoal(maze);
    const starts = open.filter(
      (cell) =>
        distances[cell] !== UNREACHABLE &&
        distances[cell] >= rules.minMoves &&
        distances[cell] <= rules.maxMoves,
    );
    if (starts.length > 0) return { ...maze, start: starts[random.nextBelow(starts.length)] };
  }
}

function drawWalls(random: Pcg32, { side, loopProbability }: DrawnMazeRules): Uint8Array {
  const walls = new Uint8Array(side * side).fill(1);
  const numRooms = (side - 1) / 2;
  const isRoom = (row: number, column: number): boolean =>
    row > 0 && column > 0 && row < side - 1 && column < side - 1;
  const drawRoom = (): number => 1 + 2 * random.nextBelow(numRooms);
  const way = [drawRoom() * side + drawRoom()];
  walls[way[0]] = 0;
  while (way.length > 0) {
    const cell = way[way.length - 1];
    const [row, column] = [Math.floor(cell / side), cell % side];
    const steps = ([[-1, 0], [1, 0], [0, -1], [0, 1]] as const).filter(([dr, dc]) =>
      isRoom(row + 2 * dr, column + 2 * dc) && walls[(row + 2 * dr) * side + column + 2 * dc] === 1,
    ); // oxfmt-ignore
    if (steps.length === 0) {
      way.pop();
      continue;
    }
    const [dr, dc] = steps[random.nextBelow(steps.length)];
    walls[(row + dr) * side + column + dc] = 0;
    walls[(row + 2 * dr) * side + column + 2 * dc] = 0;
    way.push((row + 2 * dr) * side + column + 2 * dc);
  }
  for (let cell = 0; cell < walls.length; cell++) {
    const [row, column] = [Math.floor(cell / side), cell % side];
    // Exactly one coordinate is even: the cell is between two rooms.
    const isBetween = isRoom(row, column) && (row + column) % 2 === 1;
    if (isBetween && walls[cell] === 1 && random.nextFloat() < loopProbability) walls[cell] = 0;
  }
  return walls;
}
