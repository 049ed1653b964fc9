import type { Level } from './level.js';
import { isWall, type GridState } from './moves.js';
import { HEADINGS, isHidden, type Thing } from './thing.js';

/** Cells to a side of what the agent sees; it stands in the middle of the nearest row. */
export const VIEW_SIZE = 7;
const MIDDLE = 3;
const NEAREST = VIEW_SIZE - 1;

/** An object or wall in sight. */
export interface Seen {
  /** `red ball`, `blue closed door`, `grey wall`. */
  readonly name: string;
  readonly x: number;
  readonly y: number;
  /** Rows plus columns from the agent. */
  readonly distance: number;
  /** Cells ahead of the agent, and to its right (negative: left). */
  readonly ahead: number;
  readonly right: number;
}

export interface View {
  /** From near to far; equally far ones row by row from the farthest row, from left to right. */
  readonly seen: readonly Seen[];
  /** Bounds that paths keep to. */
  readonly bounds: { readonly x: Range; readonly y: Range };
  /** Equal for views that show the same, for the test whether a move changed anything. */
  readonly image: string;
}

/** From `least` up to and without `end`. */
export interface Range {
  readonly least: number;
  readonly end: number;
}

/** The agent's view: 7×7 cells ahead, without those behind walls and doors that are not open (MiniGrid's `process_vis`). */
export function look(level: Level, state: GridState): View {
  const forward = HEADINGS[state.heading];
  const right = HEADINGS[(state.heading + 1) % 4];
  // AgentGym's first view is drawn before the agent takes what it starts with.
  const isBefore = level.rules === 'agentgym' && state.numMoves === 0;
  const carrying = isBefore ? -1 : state.carrying;
  const contents = toContents({ ...state, carrying }, level.width);
  const cells: (Seen & Content)[] = [];
  for (let ahead = NEAREST; ahead >= 0; ahead--) {
    for (let side = -MIDDLE; side <= MIDDLE; side++) {
      const x = state.x + ahead * forward[0] + side * right[0];
      const y = state.y + ahead * forward[1] + side * right[1];
      const content = isWall(level, x, y) ? WALL : (contents.get(y * level.width + x) ?? FLOOR);
      const { name, isOpaque } = content;
      cells.push({ name, isOpaque, x, y, ahead, right: side, distance: ahead + Math.abs(side) });
    }
  }
  const visible = visibleCells(cells.map(({ isOpaque }) => isOpaque));
  const carried = carrying < 0 ? '' : describeThing(state.things[carrying]);
  const image = cells.map(({ name, distance }, i) => (visible[i] ? (distance === 0 ? carried : name) : '?'));
  const seen = cells.filter(
    ({ x, y, name, distance }, i) => visible[i] && name !== '' && distance > 0 && x >= 0 && y >= 0,
  );
  seen.sort((a, b) => a.distance - b.distance);
  return { seen, bounds: computeBounds(state, forward, right), image: image.join('|') };
}

interface Content {
  readonly name: string;
  readonly isOpaque: boolean;
}

const WALL: Content = { name: 'grey wall', isOpaque: true };
const FLOOR: Content = { name: '', isOpaque: false };

/** Things that are not carried, by cell. */
function toContents(
  { things, carrying }: Pick<GridState, 'things' | 'carrying'>,
  width: number,
): ReadonlyMap<number, Content> {
  const contents = new Map<number, Content>();
  for (const [index, thing] of things.entries()) {
    if (index === carrying || isHidden(thing)) continue;
    const isOpaque = thing.kind === 'door' && thing.state !== 'open';
    contents.set(thing.y * width + thing.x, { name: describeThing(thing), isOpaque });
  }
  return contents;
}

function describeThing({ color, kind, state }: Thing): string {
  return kind === 'door' ? `${color} ${state} ${kind}` : `${color} ${kind}`;
}

/** Light spreads from the agent sideways and ahead, row by row, through cells that are not opaque. */
function visibleCells(isOpaque: readonly boolean[]): boolean[] {
  const visible = isOpaque.map(() => false);
  visible[NEAREST * VIEW_SIZE + MIDDLE] = true;
  const spread = (row: number, column: number, toward: number): void => {
    const place = row * VIEW_SIZE + column;
    if (!visible[place] || isOpaque[place]) return;
    visible[place + toward] = true;
    if (row === 0) return;
    visible[place + toward - VIEW_SIZE] = true;
    visible[place - VIEW_SIZE] = true;
  };
  for (let row = NEAREST; row >= 0; row--) {
    for (let column = 0; column < NEAREST; column++) spread(row, column, 1);
    for (let column = NEAREST; column > 0; column--) spread(row, column, -1);
  }
  return visible;
}

/** AgentGym's bounds: the view, and one more row or column where it extends to smaller numbers. */
function computeBounds(
  state: GridState,
  forward: readonly [number, number],
  right: readonly [number, number],
): View['bounds'] {
  const range = (axis: 0 | 1, from: number): Range => {
    const first = from + NEAREST * forward[axis] - MIDDLE * right[axis];
    const other = first + VIEW_SIZE * (right[axis] - forward[axis]);
    return other < first ? { least: other, end: first + 1 } : { least: first, end: other };
  };
  return { x: range(0, state.x), y: range(1, state.y) };
}
