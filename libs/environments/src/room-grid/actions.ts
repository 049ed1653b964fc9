import type { Level } from './level.js';
import { DROP, FORWARD, LEFT, PICK_UP, RIGHT, TOGGLE } from './move.js';
import { cellInFront, thingAt, type GridState } from './moves.js';
import { HEADINGS } from './thing.js';
import { look, type Range, type Seen, type View } from './view.js';

/** An agent's situation: what it sees, what it can do by which moves, and why it can't do the rest. */
export interface Situation {
  readonly view: View;
  readonly movesByAction: ReadonlyMap<string, readonly number[]>;
  readonly refusals: ReadonlyMap<string, string>;
}

export const CHECK_ACTIONS = 'check available actions';

/**
 * The actions of AgentGym's BabyAI in their order. `go to`, `pickup` and the two `go through` are paths over what is in sight. Beside them
 * `toggle` closes an open door and opens a box, which AgentGym does not offer, so that its level with a key in a box can't be solved.
 */
export function assess(level: Level, state: GridState): Situation {
  const view = look(level, state);
  const moves = new Map<string, readonly number[]>([
    ['turn left', [LEFT]],
    ['turn right', [RIGHT]],
  ]);
  const refusals = new Map<string, string>();
  const barrier = nearestBarrier(view);
  if (barrier === null || barrier.ahead > 1) moves.set('move forward', [FORWARD]);
  else refusals.set('move forward', "There is a barrier in front of you, you can't move forward.");
  const pathTo = (seen: Seen, arrives: boolean): readonly number[] | null =>
    findPath(state, seen, view, arrives);
  const objects = view.seen.filter(({ name }) => name !== 'grey wall');
  const carried = state.carrying < 0 ? null : state.things[state.carrying];
  if (carried === null) {
    addNumbered(objects.filter(({ name }) => !name.endsWith('door')), 'pickup', (seen) => {
      const path = pathTo(seen, false);
      return path === null ? null : [...path, PICK_UP];
    }, { moves, refusals }); // oxfmt-ignore
    refusals.set('drop', 'You cannot drop the object, as you are not carrying anything.');
  } else {
    const front = cellInFront(state);
    const isBlocked = view.seen.some(
      ({ x, y, name }) => x === front.x && y === front.y && !name.endsWith('door'),
    );
    if (!isBlocked) moves.set('drop', [DROP]);
    else refusals.set('drop', 'You cannot drop the object, as there is already an object in front of you.');
  }
  addDoors(objects, carried?.kind === 'key' ? carried.color : null, pathTo, { moves, refusals });
  if (level.rules === 'retrace' && canToggle(state)) moves.set('toggle', [TOGGLE]);
  addNumbered(objects, 'go to', (seen) => pathTo(seen, false), { moves, refusals });
  moves.set(CHECK_ACTIONS, []);
  return { view, movesByAction: moves, refusals };
}

/** Whether the agent faces a box or an open door. */
function canToggle(state: GridState): boolean {
  const front = cellInFront(state);
  const index = thingAt(state, front.x, front.y);
  return index >= 0 && (state.things[index].kind === 'box' || state.things[index].state === 'open');
}

/** The nearest wall or box straight ahead; null when there is none in sight. */
export function nearestBarrier({ seen }: View): Seen | null {
  return (
    seen.find(({ name, right }) => right === 0 && (name.endsWith('box') || name.endsWith('wall'))) ?? null
  );
}

interface Lists {
  readonly moves: Map<string, readonly number[]>;
  readonly refusals: Map<string, string>;
}

/** One action for each object, numbered by name; as there, an object without a path does not take a number. */
function addNumbered(
  objects: readonly Seen[],
  verb: string,
  pathTo: (seen: Seen) => readonly number[] | null,
  { moves, refusals }: Lists,
): void {
  const counts = new Map<string, number>();
  for (const seen of objects) {
    const number = (counts.get(seen.name) ?? 0) + 1;
    const action = `${verb} ${seen.name} ${number}`;
    const path = pathTo(seen);
    if (path === null) {
      refusals.set(action, `You cannot ${action}, as there is no path leading to it.`);
      continue;
    }
    moves.set(action, path);
    counts.set(seen.name, number);
  }
}

function addDoors(
  objects: readonly Seen[],
  keyColor: string | null,
  pathTo: (seen: Seen, arrives: boolean) => readonly number[] | null,
  { moves, refusals }: Lists,
): void {
  const counts = new Map<string, number>();
  for (const seen of objects) {
    const { name } = seen;
    if (!name.endsWith('door')) continue;
    counts.set(name, (counts.get(name) ?? 0) + 1);
    const numbered = `${name} ${counts.get(name)}`;
    const [through, toggleThrough] = [`go through ${numbered}`, `toggle and go through ${numbered}`];
    const state = name.split(' ')[1];
    if (state === 'open') {
      const path = pathTo(seen, true);
      if (path !== null) moves.set(through, path);
      else refusals.set(through, `You cannot ${through}, as there is no path leading to it.`);
      continue;
    }
    if (state === 'locked' && keyColor === null) {
      refusals.set(toggleThrough, `You cannot ${toggleThrough}, as you are not carrying a key.`);
      continue;
    }
    if (state === 'locked' && keyColor !== name.split(' ')[0]) {
      refusals.set(
        toggleThrough,
        `You cannot ${toggleThrough}, as the color of the key you are carrying does not match the color of door.`,
      );
      continue;
    }
    const path = pathTo(seen, false);
    if (path !== null) moves.set(toggleThrough, [...path, TOGGLE, FORWARD]);
    else
      refusals.set(
        toggleThrough,
        `You cannot toggle and go through ${name} ${pythonDict(counts)}, as there is no path leading to it.`,
      );
    if (path?.length === 0) moves.set('toggle', [TOGGLE]);
    if (state === 'closed')
      refusals.set(through, `You cannot ${through}, as it is closed. You should toggle it first.`);
  }
}

/** AgentGym prints its counter in this sentence. */
function pythonDict(counts: ReadonlyMap<string, number>): string {
  return `{${[...counts].map(([name, count]) => `'${name}': ${count}`).join(', ')}}`;
}

/**
 * Moves to a cell, or with `arrives` false to where the agent faces it; null when there is none. AgentGym's search: breadth first over
 * place and heading, forward before left before right; it marks a state as visited when it leaves the queue, so that the way back of a
 * state may be replaced while it waits, and paths are not always shortest.
 */
export function findPath(
  start: GridState,
  goal: { readonly x: number; readonly y: number },
  view: View,
  arrives: boolean,
): readonly number[] | null {
  const cellOf = (x: number, y: number): number => (y + 1) * KEY_WIDTH + x + 1;
  const barriers = view.seen.filter(({ name }) => !name.endsWith('door'));
  const blocked = new Set(barriers.map(({ x, y }) => cellOf(x, y)));
  const isInside = ({ least, end }: Range, value: number): boolean => value >= least && value < end;
  const keyOf = (node: Node): number => cellOf(node.x, node.y) * 4 + node.heading;
  const isGoal = (node: Node): boolean => {
    const at = arrives ? node : cellInFront(node);
    return at.x === goal.x && at.y === goal.y;
  };
  const nextOf = (node: Node, move: number): Node | null => {
    const next = nextNode(node, move);
    const isIn = isInside(view.bounds.x, next.x) && isInside(view.bounds.y, next.y);
    return isIn && !blocked.has(cellOf(next.x, next.y)) ? next : null;
  };
  const first: Node = { x: start.x, y: start.y, heading: start.heading };
  const search = { first, isGoal, nextOf, keyOf };
  return isReachable(search) ? searchAsAgentGym(search) : null;
}

interface Search {
  readonly first: Node;
  readonly isGoal: (node: Node) => boolean;
  readonly nextOf: (node: Node, move: number) => Node | null;
  readonly keyOf: (node: Node) => number;
}

const PATH_MOVES: readonly number[] = [FORWARD, LEFT, RIGHT];

/** Looks first whether there is a way at all: AgentGym's search would take every state many times before it gave up. */
function isReachable({ first, isGoal, nextOf, keyOf }: Search): boolean {
  const known = new Set([keyOf(first)]);
  const queue = [first];
  for (const node of queue) {
    if (isGoal(node)) return true;
    for (const move of PATH_MOVES) {
      const next = nextOf(node, move);
      if (next === null || known.has(keyOf(next))) continue;
      known.add(keyOf(next));
      queue.push(next);
    }
  }
  return false;
}

function searchAsAgentGym({ first, isGoal, nextOf, keyOf }: Search): readonly number[] | null {
  const from = new Map<number, { readonly node: Node; readonly move: number }>();
  const visited = new Set<number>();
  const queue = [first];
  for (const node of queue) {
    visited.add(keyOf(node));
    if (isGoal(node)) return movesBack(node, keyOf(first), { from, keyOf });
    for (const move of PATH_MOVES) {
      const next = nextOf(node, move);
      if (next === null || visited.has(keyOf(next))) continue;
      queue.push(next);
      from.set(keyOf(next), { node, move });
    }
  }
  return null;
}

/** More than the columns of a level; paths may lead one cell beyond it. */
const KEY_WIDTH = 64;

type Node = Pick<GridState, 'x' | 'y' | 'heading'>;

function nextNode(node: Node, move: number): Node {
  if (move === LEFT) return { ...node, heading: (node.heading + 3) % 4 };
  if (move === RIGHT) return { ...node, heading: (node.heading + 1) % 4 };
  return {
    x: node.x + HEADINGS[node.heading][0],
    y: node.y + HEADINGS[node.heading][1],
    heading: node.heading,
  };
}

function movesBack(
  last: Node,
  firstKey: number,
  {
    from,
    keyOf,
  }: {
    from: ReadonlyMap<number, { readonly node: Node; readonly move: number }>;
    keyOf: (node: Node) => number;
  },
): readonly number[] {
  const moves: number[] = [];
  for (let node = last; keyOf(node) !== firstKey;) {
    const step = from.get(keyOf(node));
    if (step === undefined) break;
    moves.unshift(step.move);
    node = step.node;
  }
  return moves;
}
