import {
  DIRECTION_INDICES,
  movePlayer,
  numBoxesOnTargets,
  type SokobanRoom,
  type SokobanState,
} from './sokoban-room.js';

/** A number for each state of a room: player and boxes as digits. Exact, since 64 cells and three boxes need 24 bits. */
export function stateKey({ side }: SokobanRoom, { player, boxes }: SokobanState): number {
  return boxes.reduce((key, cell) => key * side * side + cell, player);
}

/**
 * Finds a solution with the fewest moves, by breadth-first search over the states of player and boxes.
 *
 * @returns indices into `DIRECTIONS`, empty when it is solved already; null when no moves solve it
 */
export function solveRoom(room: SokobanRoom, start: SokobanState): readonly number[] | null {
  interface Visit {
    readonly state: SokobanState;
    readonly before: Visit | null;
    readonly direction: number;
  }
  const queue: Visit[] = [{ state: start, before: null, direction: -1 }];
  const seen = new Set([stateKey(room, start)]);
  for (const visit of queue) {
    if (numBoxesOnTargets(room, visit.state) === visit.state.boxes.length) {
      const directions: number[] = [];
      for (let at = visit; at.before !== null; at = at.before) directions.unshift(at.direction);
      return directions;
    }
    for (const direction of DIRECTION_INDICES) {
      const state = movePlayer(room, visit.state, direction);
      const key = stateKey(room, state);
      if (seen.has(key)) continue;
      seen.add(key);
      queue.push({ state, before: visit, direction });
    }
  }
  return null;
}
