import { DIRECTIONS } from '../grid/directions.js';
import type { MazeMap } from './maze-map.js';

/** Where a wall can be, in LMRL-Gym's order, with the change of row and column. */
const WALLS = [
  ['to your right', 0, 1],
  ['to your left', 0, -1],
  ['above you', -1, 0],
  ['below you', 1, 0],
] as const;

const DIGITS = [...'0123456789'];

/** Every word of observations and actions; words keep the comma or full stop after them. */
export const MAZE_WORDS: readonly string[] = [
  ...DIRECTIONS,
  ...['The', 'goal', 'is', 'at', 'position', 'Your', 'current', 'There', 'are', 'no', 'a', 'wall', 'walls'],
  ...['near', 'to', 'your', 'above', 'below', 'you.', 'you,', 'left.', 'left,', 'right.', 'right,'],
  ...DIGITS.flatMap((digit) => [digit, `${digit},`, `${digit}.`]),
];

/**
 * The sentences of LMRL-Gym (`describe_observation_give_position`), as AgentGym shows them, without the line feed at their end: goal, position,
 * and the walls around the player. Only these are told, so the way has to be found or remembered. Positions are row and column,
 * from 0; as there, a number of two digits is two words.
 */
export function describeMaze({ width, walls, goal }: MazeMap, cell: number): string {
  const [row, column] = [Math.floor(cell / width), cell % width];
  const near = WALLS.filter(([, dr, dc]) => walls[(row + dr) * width + column + dc] === 1).map(
    ([name]) => name,
  );
  const goalText = `The goal is at position ${describePosition(goal, width)}.`;
  return `${goalText} Your current position is at position ${describePosition(cell, width)}. ${describeWalls(near)}`;
}

function describePosition(cell: number, width: number): string {
  const spell = (number: number): string => [...`${number}`].join(' ');
  return `${spell(Math.floor(cell / width))}, ${spell(cell % width)}`;
}

function describeWalls(near: readonly string[]): string {
  if (near.length === 0) return 'There are no walls near you.';
  if (near.length === 1) return `There is a wall ${near[0]}.`;
  return `There are walls ${near.join(', ')}.`;
}
