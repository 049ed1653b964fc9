import type { Level } from './level.js';
import { FORWARD, LEFT, RIGHT, TOGGLE } from './move.js';
import { cellInFront, isWall, type GridState } from './moves.js';
import { HEADINGS, isHidden, type Thing } from './thing.js';

export type Pose = Pick<GridState, 'x' | 'y' | 'heading'>;

/** A way over the whole level, which may lead through what must be moved or unlocked first. */
export interface GridRoute {
  /** Moves up to the hindrance, or to the end; closed doors are opened on the way. */
  readonly moves: readonly number[];
  readonly end: Pose;
  /** Index of the first thing in the way, or of the first locked door; −1 for none. */
  readonly hindrance: number;
  /** Cells of the whole way, as keys of `cellKey`. */
  readonly cells: ReadonlySet<number>;
}

/** Moves that clearing a thing out of the way, or fetching a key, counts for. */
const CLEARING_COST = 15;
const UNLOCKING_COST = 60;

export function cellKey({ width }: Pick<Level, 'width'>, x: number, y: number): number {
  return y * width + x;
}

/**
 * Finds the cheapest way to a pose that is wanted.
 *
 * @param isThere asked with a pose and the cell in front of it
 * @param mayClear whether the way may lead through things and locked doors
 */
export function findRoute(
  level: Level,
  state: GridState,
  isThere: (pose: Pose, front: { readonly x: number; readonly y: number }) => boolean,
  mayClear = true,
): GridRoute | null {
  const cost = cellCosts(level, state, mayClear);
  const start = poseKey(level, state);
  const from = new Map<number, number>();
  const best = new Map([[start, 0]]);
  const queue: number[][] = [[start]];
  const relax = (key: number, previous: number, total: number): void => {
    if ((best.get(key) ?? Infinity) <= total) return;
    best.set(key, total);
    from.set(key, previous);
    (queue[total] ??= []).push(key);
  };
  for (let total = 0; total < queue.length; total++) {
    for (const key of queue[total] ?? []) {
      if (best.get(key) !== total) continue;
      const pose = toPose(level, key);
      const front = cellInFront(pose);
      if (isThere(pose, front))
        return traceRoute(
          level,
          state,
          poses(key, from).map((at) => toPose(level, at)),
        );
      const ahead = isWall(level, front.x, front.y) ? Infinity : cost[cellKey(level, front.x, front.y)];
      if (ahead < Infinity) relax(poseKey(level, { ...pose, ...front }), key, total + ahead);
      relax(poseKey(level, { ...pose, heading: (pose.heading + 3) % 4 }), key, total + 1);
      relax(poseKey(level, { ...pose, heading: (pose.heading + 1) % 4 }), key, total + 1);
    }
  }
  return null;
}

/** Moves that entering each cell counts for. */
function cellCosts(level: Level, state: GridState, mayClear: boolean): Float64Array {
  const costs = new Float64Array(level.width * level.height).fill(1);
  for (const [index, thing] of state.things.entries()) {
    if (index === state.carrying || isHidden(thing) || thing.x < 0) continue;
    const isLocked = thing.state === 'locked' && !isKeyOf(state.things[state.carrying], thing);
    const costly =
      thing.kind === 'door' ? (isLocked ? UNLOCKING_COST : thing.state === 'open' ? 1 : 2) : CLEARING_COST;
    costs[cellKey(level, thing.x, thing.y)] = costly > 2 && !mayClear ? Infinity : costly;
  }
  return costs;
}

/** @param thing undefined for none */
export function isKeyOf(thing: Thing | undefined, door: Thing): boolean {
  return thing?.kind === 'key' && thing.color === door.color;
}

function poseKey(level: Level, { x, y, heading }: Pose): number {
  return cellKey(level, x, y) * 4 + heading;
}

function toPose({ width }: Level, key: number): Pose {
  const cell = Math.floor(key / 4);
  return { x: cell % width, y: Math.floor(cell / width), heading: key % 4 };
}

function poses(last: number, from: ReadonlyMap<number, number>): number[] {
  const keys = [last];
  for (let key = from.get(last); key !== undefined; key = from.get(key)) keys.unshift(key);
  return keys;
}

function traceRoute(level: Level, state: GridState, way: readonly Pose[]): GridRoute {
  const cells = new Set(way.map(({ x, y }) => cellKey(level, x, y)));
  const moves: number[] = [];
  for (let i = 1; i < way.length; i++) {
    const [before, after] = [way[i - 1], way[i]];
    if (before.heading !== after.heading) {
      moves.push((before.heading + 1) % 4 === after.heading ? RIGHT : LEFT);
      continue;
    }
    const index = state.things.findIndex(
      (thing, other) =>
        other !== state.carrying && !isHidden(thing) && thing.x === after.x && thing.y === after.y,
    );
    const thing = index < 0 ? null : state.things[index];
    const isLocked = thing?.state === 'locked' && !isKeyOf(state.things[state.carrying], thing);
    if (thing !== null && (thing.kind !== 'door' || isLocked))
      return { moves, end: before, hindrance: index, cells };
    if (thing !== null && thing.state !== 'open') moves.push(TOGGLE);
    moves.push(FORWARD);
  }
  return { moves, end: way[way.length - 1], hindrance: -1, cells };
}

/** The four cells beside a cell. */
export function besides({
  x,
  y,
}: {
  readonly x: number;
  readonly y: number;
}): { readonly x: number; readonly y: number }[] {
  return HEADINGS.map(([stepX, stepY]) => ({ x: x + stepX, y: y + stepY }));
}
