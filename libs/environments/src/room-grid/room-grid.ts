import { isJsonObject, type Json } from '@retrace/trajectory';
import { hashText } from '@retrace/random';
import { refusal, TextWorld, type Outcome } from '../text-world/text-world.js';
import { assess, nearestBarrier, type Situation } from './actions.js';
import { parseLevelTask, type Level } from './level.js';
import { isSolved, makeMove, startState, type GridState } from './moves.js';
import { STATUSES, type Progress } from './progress.js';
import { DOOR_STATES, THING_STATES, type ThingState } from './thing.js';
import { look, type Seen } from './view.js';

export interface RoomGridOptions {
  /** Words that answers are limited to; null (default) for none. */
  readonly words?: ReadonlySet<string> | null;
  /** Most actions of an episode (default 60). */
  readonly maxSteps?: number;
}

/** Most actions of an episode, where nothing else is said. */
export const GRID_MAX_STEPS = 60;

interface ParsedTask {
  readonly level: Level;
  /** Identifies the level in anchors. */
  readonly hash: string;
}

/** State as JSON: place, heading, index of what is carried or −1, things as [x, y, state], progress of the mission, moves. */
interface SavedState {
  readonly [field: string]: Json;
  readonly at: readonly [number, number, number];
  readonly carrying: number;
  readonly things: readonly (readonly [number, number, ThingState | null])[];
  readonly isDone: readonly boolean[];
  readonly held: readonly number[];
  readonly status: Progress['status'];
  readonly numMoves: number;
}

/**
 * Rooms with doors, keys, balls and boxes, seen as the 7×7 cells ahead and told in sentences; actions go to, pick up or pass what is in sight.
 *
 * Rules of MiniGrid and BabyAI (arXiv:1810.08272), text and actions of AgentGym's BabyAI: numbering, paths, and the move that changes
 * nothing and ends an action. Reward 1 − 0.9 · moves / most moves (at least 0.1) with the move that fulfils the mission, which ends action
 * and episode, as does opening or picking up the wrong thing where the level forbids it; −0.1 for an action that is refused.
 *
 * A task with the rules `agentgym` ends as on AgentGym's server, which loses successes: an action goes on after the move that solves the
 * task, only its last move counts, and a success that pays 0.5 or less, or a failure, does not end the episode.
 */
export class RoomGrid extends TextWorld<ParsedTask, SavedState> {
  private assessed: { readonly state: SavedState; readonly situation: Situation } | null = null;

  constructor({ words = null, maxSteps = GRID_MAX_STEPS }: RoomGridOptions = {}) {
    super({ world: 'grid', maxSteps, words });
  }

  /** The state of the episode, for experts. */
  get gridState(): GridState {
    return loadState(this.state, this.rules.level);
  }

  /** The agent's situation now. */
  get situation(): Situation {
    if (this.assessed?.state !== this.state) {
      this.assessed = { state: this.state, situation: assess(this.rules.level, this.gridState) };
    }
    return this.assessed.situation;
  }

  protected parseTask(task: Json): ParsedTask {
    return { level: parseLevelTask(task), hash: hashText(JSON.stringify(task)).toString(36) };
  }

  protected begin({ level }: ParsedTask): { state: SavedState; text: string } {
    const state = startState(level);
    const situation = assess(level, state);
    const text = `Your goal: ${level.mission.text}\n${describe(state, situation)}${listed(situation)}`;
    return { state: saveState(state), text };
  }

  protected act(said: string): { state: SavedState; outcome: Outcome } {
    const { level } = this.rules;
    const before = this.gridState;
    const { situation } = this;
    const action = said.toLowerCase().trim();
    const stay = (text: string, isValid: boolean): { state: SavedState; outcome: Outcome } => {
      const shown = text + listed(situation);
      const isKnown = situation.movesByAction.has(action) || situation.refusals.has(action) || isValid;
      const outcome = refusal(shown, isKnown ? action : null);
      return { state: this.state, outcome: isValid ? { ...outcome, isValid: true } : outcome };
    };
    if (action.includes('check')) {
      return stay(
        `You can take the following actions: ${[...situation.movesByAction.keys()].join(', ')}`,
        true,
      );
    }
    const moves = situation.movesByAction.get(action);
    if (action === '') return stay('No change in state.', false);
    if (moves === undefined) {
      return stay(
        situation.refusals.get(action) ?? 'The action is not recognized. Please check valid actions.',
        false,
      );
    }
    if (moves.length === 0) return stay('No change in state.', true);
    const after = makeMoves(level, before, moves);
    return { state: saveState(after), outcome: toOutcome(level, after, action) };
  }

  protected describeState(): string {
    // The number of moves is history, although the reward depends on it.
    const { numMoves: _, ...state } = this.state;
    return `${this.rules.hash}@${JSON.stringify(state)}`;
  }

  protected listActions(): readonly string[] {
    return [...this.situation.movesByAction.keys()];
  }

  protected readState(state: Json, { level }: ParsedTask): SavedState | null {
    if (!isJsonObject(state)) return null;
    const { at, carrying, things, isDone, held, status, numMoves } = state as Partial<SavedState>;
    const isIn = (value: unknown, least: number, end: number): boolean =>
      Number.isSafeInteger(value) && (value as number) >= least && (value as number) < end;
    const isPlace = (x: unknown, y: unknown): boolean => isIn(x, 0, level.width) && isIn(y, 0, level.height);
    const isAt = Array.isArray(at) && at.length === 3 && isPlace(at[0], at[1]) && isIn(at[2], 0, 4);
    const isThing = (thing: unknown, i: number): boolean => {
      if (!Array.isArray(thing)) return false;
      const [x, y, saved] = thing as unknown[];
      const known: readonly unknown[] =
        level.things[i].kind === 'door' ? DOOR_STATES : [null, ...THING_STATES.slice(DOOR_STATES.length)];
      return (isPlace(x, y) || (x === -1 && y === -1)) && known.includes(saved);
    };
    const areThings = Array.isArray(things) && things.length === level.things.length && things.every(isThing);
    const { length } = level.mission.clauses;
    const areFlags =
      Array.isArray(isDone) && isDone.length === length && isDone.every((flag) => typeof flag === 'boolean');
    const areHeld =
      Array.isArray(held) && held.length === length && held.every((i) => isIn(i, -1, level.things.length));
    const isStatus = STATUSES.includes(status as Progress['status']);
    const areNumbers = isIn(carrying, -1, level.things.length) && isIn(numMoves, 0, Infinity);
    return isAt && areThings && areFlags && areHeld && isStatus && areNumbers ? (state as SavedState) : null;
  }
}

/** Makes moves until one changes nothing that is seen, or ends the task. */
export function makeMoves(level: Level, start: GridState, moves: readonly number[]): GridState {
  let state = start;
  let { image } = look(level, state);
  for (const move of moves) {
    state = makeMove(level, state, move);
    const after = look(level, state).image;
    if (after === image || (level.rules === 'retrace' && state.progress.status !== 'going')) return state;
    image = after;
  }
  return state;
}

/** AgentGym ends an episode only with a reward above this. */
const LEAST_ENDING_REWARD = 0.5;

function toOutcome(level: Level, after: GridState, action: string): Outcome {
  const { status } = after.progress;
  const next = assess(level, after);
  const isOpen = level.rules === 'agentgym';
  const ending = status === 'going' ? '' : status === 'success' || isOpen ? COMPLETED : FAILED;
  const text = describe(after, next) + ending + listed(next);
  const paid = 1 - (0.9 * after.numMoves) / level.maxMoves;
  const reward = isOpen ? paid : Math.max(0.1, paid);
  const solved = isSolved(after) && !(isOpen && reward <= LEAST_ENDING_REWARD);
  return {
    text,
    parsedAction: action,
    isValid: true,
    isSolved: solved,
    hasFailed: status === 'failure' && !isOpen,
    rewards: isSolved(after) ? [['goal', reward]] : [],
  };
}

const COMPLETED = '\n The task is completed.';
const FAILED = '\n The task has failed.';

function describe(state: GridState, situation: Situation): string {
  const { seen } = situation.view;
  const counts = new Map<string, number>();
  let text = 'You cannot see any objects within sight.';
  if (seen.length > 0) text = 'In front of you in this room, you can see several objects: ';
  for (const thing of seen) {
    if (thing.name === 'grey wall') continue;
    const number = (counts.get(thing.name) ?? 0) + 1;
    counts.set(thing.name, number);
    text += `There is a ${thing.name} ${number} ${describePlace(thing)}  `;
  }
  text += 'The room has walls around you. ';
  const barrier = nearestBarrier(situation.view);
  if (barrier !== null)
    text += `You are facing a ${barrier.name.split(' ')[1]} ${barrier.ahead} steps away. `;
  if (state.carrying < 0) return `${text}You are not carrying anything.`;
  const { color, kind } = state.things[state.carrying];
  return `${text}You are carrying a ${color} ${kind}.`;
}

function describePlace({ ahead, right }: Seen): string {
  if (right === 0) return `right in front of you ${ahead} steps away.`;
  return `${ahead} steps in front of you and ${Math.abs(right)} steps to your ${right > 0 ? 'right' : 'left'}.`;
}

/** The list that AgentGym's server adds. */
function listed({ movesByAction }: Situation): string {
  return `\nAvailable actions: [${[...movesByAction.keys()].map((action) => `"${action}"`).join(', ')}]`;
}

function saveState({ x, y, heading, carrying, things, progress, numMoves }: GridState): SavedState {
  const saved = things.map((thing) => [thing.x, thing.y, thing.state] as const);
  return { at: [x, y, heading], carrying, things: saved, ...progress, numMoves };
}

function loadState(
  { at, carrying, things, isDone, held, status, numMoves }: SavedState,
  level: Level,
): GridState {
  const loaded = things.map(([x, y, state], i) => ({ ...level.things[i], x, y, state }));
  const progress = { isDone, held, status };
  return { x: at[0], y: at[1], heading: at[2], carrying, things: loaded, progress, numMoves };
}
