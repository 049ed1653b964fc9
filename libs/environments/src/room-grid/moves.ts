import type { Level } from './level.js';
import { DROP, FORWARD, LEFT, PICK_UP, RIGHT } from './move.js';
import { startProgress, verifyMove, type Progress } from './progress.js';
import { HEADINGS, isHidden, type Thing } from './thing.js';

/** Everything that moves change. Never modified: a move makes another one. */
export interface GridState {
  readonly x: number;
  readonly y: number;
  readonly heading: number;
  /** Index of the thing that is carried; −1 for none. */
  readonly carrying: number;
  /**
   * Where things are now. One that is carried, and a box that was opened, keep the place where they were until the agent tries to drop
   * something: BabyAI looks for things again only then. After that it is −1, −1.
   */
  readonly things: readonly Thing[];
  readonly progress: Progress;
  readonly numMoves: number;
}

export function startState({ agent, things, carrying, mission }: Level): GridState {
  return { ...agent, carrying, things, progress: startProgress(mission), numMoves: 0 };
}

/** Index of the thing on a cell; −1 for none. */
export function thingAt(
  { things, carrying }: Pick<GridState, 'things' | 'carrying'>,
  x: number,
  y: number,
): number {
  return things.findIndex(
    (thing, index) => index !== carrying && thing.x === x && thing.y === y && !isHidden(thing),
  );
}

export function isWall({ walls, width, height }: Level, x: number, y: number): boolean {
  return x < 0 || y < 0 || x >= width || y >= height || walls[y * width + x] === 1;
}

/** The cell in front of the agent. */
export function cellInFront({ x, y, heading }: Pick<GridState, 'x' | 'y' | 'heading'>): {
  readonly x: number;
  readonly y: number;
} {
  return { x: x + HEADINGS[heading][0], y: y + HEADINGS[heading][1] };
}

/** Carries out one move by the rules of MiniGrid, and notes what of the mission it fulfils. A move that can't be made counts, too. */
export function makeMove(level: Level, state: GridState, move: number): GridState {
  const moved = { ...change(level, state, move), numMoves: state.numMoves + 1 };
  const front = cellInFront(moved);
  const { things, carrying, progress } = moved;
  const scene = { move, things, carrying, front, facing: thingAt(moved, front.x, front.y) };
  return {
    ...moved,
    progress: verifyMove(level.mission, {
      before: progress,
      after: scene,
      failsAtOnce: level.rules === 'agentgym',
    }),
  };
}

export function isSolved({ progress }: GridState): boolean {
  return progress.status === 'success';
}

function change(level: Level, state: GridState, move: number): GridState {
  if (move === LEFT) return { ...state, heading: (state.heading + 3) % 4 };
  if (move === RIGHT) return { ...state, heading: (state.heading + 1) % 4 };
  const front = cellInFront(state);
  const index = thingAt(state, front.x, front.y);
  const thing = index < 0 ? null : state.things[index];
  if (move === FORWARD) {
    const isFree = !isWall(level, front.x, front.y) && (thing === null || thing.state === 'open');
    return isFree ? { ...state, ...front } : state;
  }
  if (move === PICK_UP) {
    const canPickUp = thing !== null && thing.kind !== 'door' && state.carrying < 0;
    return canPickUp ? { ...state, carrying: index } : state;
  }
  if (move === DROP) return drop(state, thing === null && !isWall(level, front.x, front.y) ? front : null);
  return thing === null ? state : toggle(level, state, index);
}

/** Puts down what is carried, if there is a place for it, and forgets the places of what is nowhere. */
function drop(state: GridState, place: { readonly x: number; readonly y: number } | null): GridState {
  const { carrying } = state;
  const isDropped = carrying >= 0 && place !== null;
  const things = state.things.map((thing, index) => {
    if (index === carrying) return { ...thing, ...(isDropped ? place : NOWHERE) };
    return thing.state === 'gone' ? { ...thing, ...NOWHERE } : thing;
  });
  return { ...state, carrying: isDropped ? -1 : carrying, things };
}

const NOWHERE = { x: -1, y: -1 };

function toggle({ boxes }: Level, state: GridState, index: number): GridState {
  const { kind, state: was, color, x, y } = state.things[index];
  const change = (i: number, fields: Partial<Thing>): Thing[] =>
    state.things.map((thing, other) => (other === i ? { ...thing, ...fields } : thing));
  if (kind === 'box') {
    const opened = change(index, { state: 'gone' });
    const content = boxes.findIndex((box, i) => box === index && state.things[i].state === 'boxed');
    if (content >= 0) opened[content] = { ...opened[content], x, y, state: null };
    return { ...state, things: opened };
  }
  if (kind !== 'door') return state;
  const held = state.carrying < 0 ? null : state.things[state.carrying];
  if (was === 'locked' && !(held?.kind === 'key' && held.color === color)) return state;
  return { ...state, things: change(index, { state: was === 'open' ? 'closed' : 'open' }) };
}
