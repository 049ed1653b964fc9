import { MOVES, NUM_CELLS, SIDE, type LakeMap } from './lake-map.js';

/**
 * The lake in words. A cell is called by column letter and row number (`a1` top left), and every fact is one
 * word: `goal_d4 hole_a3 hole_c1 you_b2`. So a word-level model reads 3–9 tokens instead of a drawn grid,
 * needs no arithmetic on token positions, and the last word before the action is the player's cell.
 */
function cellWords(role: string): string[] {
  return Array.from(
    { length: NUM_CELLS },
    (_, cell) => `${role}_${'abcd'[cell % SIDE]}${Math.floor(cell / SIDE) + 1}`,
  );
}

const GOAL_WORDS = cellWords('goal');
const HOLE_WORDS = cellWords('hole');
const PLAYER_WORDS = cellWords('you');

/** Every word of observations and actions. */
export const LAKE_WORDS: readonly string[] = [...MOVES, ...GOAL_WORDS, ...HOLE_WORDS, ...PLAYER_WORDS];

/** The part of the observation that stays as it is during an episode: goal, then holes in cell order. */
export function describeLake(map: LakeMap): string {
  let text = GOAL_WORDS[map.goal];
  for (let cell = 0; cell < NUM_CELLS; cell++) {
    if (map.holes[cell] === 1) text += ` ${HOLE_WORDS[cell]}`;
  }
  return text;
}

/** Word for the player's cell. */
export function describePlayer(cell: number): string {
  return PLAYER_WORDS[cell];
}
