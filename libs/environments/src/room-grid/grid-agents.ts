import type { Environment, ScriptedAgent } from '../environment.js';
import { EnvironmentError } from '../errors.js';
import { pick } from '../random/pick.js';
import { HEADINGS, matches, type Level } from './level.js';
import { frontOf, isSolved, isWall, thingAt, type GridState } from './moves.js';
import { makeMoves, RoomGrid } from './room-grid.js';

/** Moves that a stage counts for, more than any way within one. */
const STAGE_COST = 1000;

/** Knows the whole level: takes the action after which the fewest moves are left, of equally good ones a random one. */
export const gridExpert: ScriptedAgent = {
  name: 'expert',
  act(environment, _observation, random) {
    const world = gridOf(environment);
    const { level } = world.rules;
    const state = world.gridState;
    const left: { readonly action: string; readonly cost: number }[] = [];
    for (const [action, moves] of world.situation.movesByAction) {
      if (moves.length > 0) left.push({ action, cost: costLeft(level, makeMoves(level, state, moves)) });
    }
    const least = Math.min(...left.map(({ cost }) => cost));
    return pick(
      left.filter(({ cost }) => cost === least).map(({ action }) => action),
      random,
    );
  },
};

/** Next thing to do: where the agent must face, and how many stages follow. */
interface Stage {
  readonly numAfter: number;
  readonly isThere: (state: GridState, front: { readonly x: number; readonly y: number }) => boolean;
}

/** Moves to the end of the current stage, and a constant for each later one; 0 when all is done, `Infinity` when it can't be. */
export function costLeft(level: Level, state: GridState): number {
  if (isSolved(state)) return 0;
  const stage = lockStage(level, state) ?? nextStage(level, state);
  const distance = distanceTo(level, state, stage.isThere);
  return distance === null ? Infinity : 1 + distance + STAGE_COST * (1 + stage.numAfter);
}

/** The way through a locked door: free hands, its key, the door; null when no door is locked. */
function lockStage({ instructions }: Level, { things, carrying }: GridState): Stage | null {
  const door = things.findIndex((thing) => thing.door === 'locked');
  if (door < 0) return null;
  const numAfter = instructions[0].verb === 'open' ? 0 : 2;
  const isKey = (index: number): boolean =>
    index >= 0 && things[index].kind === 'key' && things[index].color === things[door].color;
  if (isKey(carrying)) return { numAfter, isThere: (at, front) => thingAt(at, front.x, front.y) === door };
  if (carrying >= 0) return { numAfter: numAfter + 2, isThere: isFreeFront };
  return { numAfter: numAfter + 1, isThere: (at, front) => isKey(thingAt(at, front.x, front.y)) };
}

const isFreeFront: Stage['isThere'] = (at, front) => thingAt(at, front.x, front.y) < 0;

function nextStage({ instructions, join }: Level, state: GridState): Stage {
  const order = join === 'after' ? [1, 0] : [0, 1];
  const open = order.filter((i) => i < instructions.length && !state.isFulfilled[i]);
  const later = 3 * (open.length - 1);
  const { verb, target, beside } = instructions[open[0]];
  const held = state.carrying < 0 ? null : state.things[state.carrying];
  const facesTarget: Stage['isThere'] = (at, front) => {
    const index = thingAt(at, front.x, front.y);
    return index >= 0 && matches(target, at.things[index]);
  };
  if (verb === 'go to' || verb === 'open') return { numAfter: later, isThere: facesTarget };
  if (beside !== null && held !== null && matches(target, held)) {
    const isBeside: Stage['isThere'] = (at, front) =>
      thingAt(at, front.x, front.y) < 0 &&
      at.things.some(
        (thing, i) =>
          i !== at.carrying &&
          matches(beside, thing) &&
          Math.abs(thing.x - front.x) + Math.abs(thing.y - front.y) === 1,
      );
    return { numAfter: later, isThere: isBeside };
  }
  const numAfter = later + (beside === null ? 0 : 1);
  if (held === null) return { numAfter, isThere: facesTarget };
  return { numAfter: numAfter + 1, isThere: isFreeFront };
}

/** Fewest moves to a state that a stage asks for, doors that can be opened taken for open; null when there is none. */
function distanceTo(level: Level, start: GridState, isThere: Stage['isThere']): number | null {
  const held = start.carrying < 0 ? null : start.things[start.carrying];
  const isFree = (x: number, y: number): boolean => {
    if (isWall(level, x, y)) return false;
    const index = thingAt(start, x, y);
    if (index < 0) return true;
    const { door, color } = start.things[index];
    return door !== null && (door !== 'locked' || (held?.kind === 'key' && held.color === color));
  };
  const seen = new Set<number>();
  const queue = [{ x: start.x, y: start.y, heading: start.heading, distance: 0 }];
  for (const node of queue) {
    const key = (node.y * level.width + node.x) * 4 + node.heading;
    if (seen.has(key)) continue;
    seen.add(key);
    const front = frontOf(node);
    if (!isWall(level, front.x, front.y) && isThere(start, front)) return node.distance;
    const distance = node.distance + 1;
    const [stepX, stepY] = HEADINGS[node.heading];
    if (isFree(node.x + stepX, node.y + stepY))
      queue.push({ ...node, x: node.x + stepX, y: node.y + stepY, distance });
    queue.push({ ...node, heading: (node.heading + 1) % 4, distance });
    queue.push({ ...node, heading: (node.heading + 3) % 4, distance });
  }
  return null;
}

function gridOf(environment: Environment): RoomGrid {
  if (environment instanceof RoomGrid) return environment;
  throw new EnvironmentError('WRONG_ENVIRONMENT', 'this agent plays grid only');
}
