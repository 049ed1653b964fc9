import type { Level } from './level.js';
import type { Clause } from './mission.js';
import { DROP, PICK_UP, TOGGLE } from './move.js';
import { isWall, thingAt, type GridState } from './moves.js';
import { currentStage } from './progress.js';
import { besides, cellKey, findRoute, isKeyOf, type Pose, type GridRoute } from './route.js';
import { isHidden } from './thing.js';

/** A pose to reach, and the move to make there. */
interface Goal {
  readonly isThere: (pose: Pose, front: { readonly x: number; readonly y: number }) => boolean;
  readonly move: number | null;
}

/** Most things that are cleared away or fetched for one another. */
const MOST_DETOURS = 12;

/**
 * Moves up to the next thing that is done for the mission: it is reached, picked up, put down or opened, or so is what is in the way. Knows the
 * whole level. null where nothing can be done.
 */
export function planMoves(level: Level, state: GridState): readonly number[] | null {
  const { clauses } = level.mission;
  const open = currentStage(level.mission, state.progress).filter((i) => !state.progress.isDone[i]);
  for (const i of open) {
    const moves = new ClausePlan(level, state).movesFor(clauses[i]);
    if (moves !== null) return moves;
  }
  return null;
}

class ClausePlan {
  private numDetours = 0;

  constructor(
    private readonly level: Level,
    private readonly state: GridState,
  ) {}

  movesFor({ verb, target, beside }: Clause): readonly number[] | null {
    const { carrying } = this.state;
    const targets = this.present(target.things);
    if (verb === 'go to')
      return targets.length === 0 ? this.putDown() : this.reach(this.facing(targets), null);
    if (verb === 'open') return this.openOne(targets);
    if (verb === 'put' && beside !== null) {
      const places = this.present(beside.things);
      if (places.length === 0) return this.putDown();
      const unlocking = this.unlockingOnWayTo(this.facing(places));
      if (unlocking !== null) return unlocking;
      if (target.things.has(carrying)) return this.reach(this.placeBeside(places), DROP);
    }
    const goal = this.facing(targets);
    const unlocking = this.unlockingOnWayTo(goal);
    if (unlocking !== null) return unlocking;
    if (carrying >= 0) return this.putDown();
    return this.reach(goal, PICK_UP);
  }

  /** Things that stand in the level. */
  private present(things: ReadonlySet<number>): readonly number[] {
    return [...things].filter((i) => i !== this.state.carrying && !isHidden(this.state.things[i]));
  }

  private facing(things: readonly number[]): Goal['isThere'] {
    const cells = new Set(things.map((i) => this.keyOf(this.state.things[i])));
    return (_, front) => cells.has(this.keyOf(front));
  }

  private placeBeside(things: readonly number[]): Goal['isThere'] {
    const cells = new Set(
      things.flatMap((i) => besides(this.state.things[i])).map((cell) => this.keyOf(cell)),
    );
    return (_, front) => cells.has(this.keyOf(front)) && this.isFree(front);
  }

  private keyOf({ x, y }: { readonly x: number; readonly y: number }): number {
    return cellKey(this.level, x, y);
  }

  private isFree({ x, y }: { readonly x: number; readonly y: number }): boolean {
    return !isWall(this.level, x, y) && thingAt(this.state, x, y) < 0;
  }

  private openOne(doors: readonly number[]): readonly number[] | null {
    const { things } = this.state;
    const unlocked = doors.filter((i) => things[i].state !== 'locked');
    const held = things[this.state.carrying];
    const ready = doors.filter((i) => things[i].state !== 'locked' || isKeyOf(held, things[i]));
    // An open door is closed and opened again: only closed ones can be opened.
    const closed = unlocked.filter((i) => things[i].state === 'closed');
    for (const some of [closed, ready]) {
      if (some.length > 0) return this.reach(this.facing(some), TOGGLE);
    }
    return doors.length === 0 ? null : this.fetchKeyOf(doors[0]);
  }

  private routeTo(isThere: Goal['isThere']): GridRoute | null {
    return findRoute(this.level, this.state, isThere);
  }

  /** Moves that unlock the first locked door on the way; null where none is locked, or nothing leads there. */
  private unlockingOnWayTo(isThere: Goal['isThere']): readonly number[] | null {
    const route = this.routeTo(isThere);
    if (route === null) return null;
    const door = this.state.things.findIndex(
      (thing) => thing.state === 'locked' && route.cells.has(this.keyOf(thing)),
    );
    if (door < 0) return null;
    const isReady = isKeyOf(this.state.things[this.state.carrying], this.state.things[door]);
    return isReady ? this.reach(this.facing([door]), TOGGLE) : this.fetchKeyOf(door);
  }

  private fetchKeyOf(door: number): readonly number[] | null {
    if (++this.numDetours > MOST_DETOURS) return null;
    const { things, carrying } = this.state;
    const keys = things.flatMap((thing, i) => (isKeyOf(thing, things[door]) && i !== carrying ? [i] : []));
    const standing = keys.filter((i) => !isHidden(things[i]));
    if (standing.length === 0) {
      const boxes = keys.filter((i) => things[i].state === 'boxed').map((i) => this.level.boxes[i]);
      if (boxes.length === 0) return null;
      if (boxes.includes(carrying)) return this.putDown();
      return this.reach(this.facing(boxes), TOGGLE);
    }
    const goal = this.facing(standing);
    const unlocking = this.unlockingOnWayTo(goal);
    if (unlocking !== null) return unlocking;
    const toDoor = this.routeTo(this.facing([door]));
    // What is before the door is cleared away first: it can't be while the key is in the hand.
    const isBlocked = toDoor !== null && toDoor.hindrance >= 0 && !standing.includes(toDoor.hindrance);
    if (carrying < 0) {
      if (isBlocked && things[toDoor.hindrance].state === null) return [...toDoor.moves, PICK_UP];
      return this.reach(goal, PICK_UP);
    }
    return this.putDown();
  }

  /** Goes there, or does first what the way needs. */
  private reach(isThere: Goal['isThere'], move: number | null): readonly number[] | null {
    const route = this.routeTo(isThere);
    if (route === null || ++this.numDetours > MOST_DETOURS) return null;
    const { hindrance } = route;
    if (hindrance < 0) return move === null ? route.moves : [...route.moves, move];
    if (this.state.things[hindrance].state === 'locked') return this.fetchKeyOf(hindrance);
    return this.state.carrying < 0 ? [...route.moves, PICK_UP] : this.putDown();
  }

  /** Puts down what is carried in the nearest place where it is in nobody's way. */
  private putDown(): readonly number[] | null {
    if (this.state.carrying < 0) return null;
    const isGood: readonly Goal['isThere'][] = [
      (_, front) => this.isFree(front) && this.isHarmless(front),
      (_, front) => this.isFree(front),
    ];
    for (const isThere of isGood) {
      const route = findRoute(this.level, this.state, isThere, false);
      if (route !== null) return [...route.moves, DROP];
    }
    return null;
  }

  /**
   * Whether a thing on this cell would neither stand before a door, nor part the free cells around it, nor take the last free place beside
   * another thing. Does not depend on where the agent is, so that a plan for it holds while the agent walks.
   */
  private isHarmless(cell: { readonly x: number; readonly y: number }): boolean {
    const ring = RING.map(([x, y]) => this.isFree({ x: cell.x + x, y: cell.y + y }));
    const numParts = ring.filter((isFree, i) => isFree && !ring[(i + 7) % 8]).length;
    if (numParts > 1) return false;
    return besides(cell).every((at) => {
      const index = thingAt(this.state, at.x, at.y);
      if (index < 0) return true;
      if (this.state.things[index].kind === 'door') return false;
      return besides(at).some((other) => (other.x !== cell.x || other.y !== cell.y) && this.isFree(other));
    });
  }
}

/** Steps to the eight cells around a cell, in their order. */
const RING = [[-1, -1], [0, -1], [1, -1], [1, 0], [1, 1], [0, 1], [-1, 1], [-1, 0]] as const; // oxfmt-ignore
