/** The moves of the worlds that are drawn as grids with walls. Their order is part of what a seed gives: do not change it. */
export const DIRECTIONS = ['up', 'down', 'left', 'right'] as const;
export type Direction = (typeof DIRECTIONS)[number];

/** Change of the cell's number for each of `DIRECTIONS`, where cells are numbered row by row in rows of `width`. */
export function directionOffsets(width: number): readonly number[] {
  return [-width, width, -1, 1];
}
