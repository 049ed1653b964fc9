import type { Json } from '@retrace/trajectory';
import type { Environment, Observation, ResetOptions, StepResult } from '../environment.js';
import { EnvironmentError } from '../errors.js';
import { DIRECTIONS, type Direction } from '../grid/directions.js';
import { INVALID_ACTION_NAMES, INVALID_ACTION_REWARD, INVALID_ACTION_VALUES } from '../invalid-action.js';
import { oneWordParser } from '../parse/one-word.js';
import { SnapshotFields } from '../snapshot-fields.js';
import {
  formatRoom,
  movePlayer,
  numBoxesOnTargets,
  parseSokobanTask,
  type SokobanRoom,
  type SokobanState,
} from './sokoban-room.js';
import type { SokobanWords } from './sokoban-words.js';

const WORLD = 'sokoban';
const parseDirection = oneWordParser(DIRECTIONS);

const STEP_REWARD = -0.1;
const BOX_ON_REWARD = 1;
const BOX_OFF_REWARD = -1;
const SOLVED_REWARD = 10;

export interface SokobanOptions {
  /** Rows and columns of its rooms. */
  readonly side: number;
  /** Moves after which an episode is cut. */
  readonly maxSteps: number;
  readonly words: SokobanWords;
}

/**
 * Push every box onto a target; boxes cannot be pulled, nor two pushed at once.
 *
 * Rewards of gym-sokoban and RAGEN (arXiv:2504.20073) as named parts: −0.1 a move (`step`), +1 for a box pushed onto a target (`boxOn`),
 * −1 for one pushed off (`boxOff`), +10 when all are on targets (`solved`). An invalid action costs −0.1 and the turn. The solved
 * room ends the episode (`terminated`), the last move cuts it (`truncated`); a box that can never be pushed onto a target ends
 * nothing. Success = the room was solved.
 */
export class Sokoban implements Environment {
  private episode: { readonly room: SokobanRoom; readonly roomText: string } | null = null;
  private current: SokobanState = { player: 0, boxes: [] };
  private task: Json = null;
  private numSteps = 0;
  private over = true;

  constructor(private readonly options: SokobanOptions) {}

  reset({ task }: ResetOptions): Observation {
    this.task = task;
    const { room, start } = parseSokobanTask(task, this.options.side);
    this.episode = { room, roomText: this.options.words.describeRoom(room) };
    this.current = start;
    this.numSteps = 0;
    this.over = false;
    return this.observe();
  }

  step(action: string): StepResult {
    const { room } = this;
    if (this.over)
      throw new EnvironmentError('EPISODE_OVER', 'the episode is over: reset before the next step');
    const { parsedAction, actionValid } = parseDirection(action);
    this.numSteps += 1;
    const before = numBoxesOnTargets(room, this.current);
    if (parsedAction !== null) {
      this.current = movePlayer(room, this.current, DIRECTIONS.indexOf(parsedAction as Direction));
    }
    const numOn = numBoxesOnTargets(room, this.current);
    const terminated = numOn === this.current.boxes.length;
    const truncated = !terminated && this.numSteps >= this.options.maxSteps;
    this.over = terminated || truncated;
    const parts = rewardParts(numOn - before, terminated);
    return {
      observation: this.observe(),
      reward: actionValid ? parts.reduce((sum, [, value]) => sum + value, 0) : INVALID_ACTION_REWARD,
      rewardNames: actionValid ? parts.map(([name]) => name) : INVALID_ACTION_NAMES,
      rewardValues: actionValid ? parts.map(([, value]) => value) : INVALID_ACTION_VALUES,
      terminated,
      truncated,
      parsedAction,
      actionValid,
      success: this.over ? terminated : null,
      info: null,
    };
  }

  snapshot(): Json {
    if (this.episode === null) throw new EnvironmentError('NOT_RESET', 'sokoban: nothing to snapshot');
    const { task, numSteps, over } = this;
    const { player, boxes } = this.current;
    return { world: WORLD, task, player, boxes, numSteps, over };
  }

  restore(snapshot: Json): Observation {
    const fields = new SnapshotFields(WORLD, snapshot);
    const { side, maxSteps } = this.options;
    const last = side * side - 1;
    const player = fields.integer('player', 0, last);
    const boxes = fields.integers('boxes', 0, last);
    const numSteps = fields.integer('numSteps', 0, maxSteps);
    const over = fields.boolean('over');
    this.reset({ task: fields.task, seed: 0 });
    const isFloor = (cell: number): boolean => this.room.walls[cell] === 0;
    if (boxes.length !== this.current.boxes.length || ![player, ...boxes].every(isFloor)) {
      this.close();
      throw fields.fault('boxes', 'be as many as in the task and, as the player, on its floor');
    }
    this.current = { player, boxes };
    this.numSteps = numSteps;
    this.over = over;
    return this.observe();
  }

  close(): void {
    this.over = true;
  }

  /** The room of the running episode, for experts. @throws EnvironmentError `NOT_RESET` before the first reset */
  get room(): SokobanRoom {
    if (this.episode === null)
      throw new EnvironmentError('NOT_RESET', 'sokoban: reset before the first step');
    return this.episode.room;
  }

  /** Player and boxes. */
  get state(): SokobanState {
    return this.current;
  }

  private observe(): Observation {
    return {
      text: `${this.episode?.roomText} ${this.options.words.describeState(this.current)}`,
      anchor: formatRoom(this.room, this.current).join('/'),
      legalActions: DIRECTIONS,
    };
  }
}

/** Parts of the reward of a move. @param change of the number of boxes on targets: −1, 0 or 1 */
function rewardParts(change: number, solved: boolean): (readonly [string, number])[] {
  const parts: (readonly [string, number])[] = [['step', STEP_REWARD]];
  if (change > 0) parts.push(['boxOn', BOX_ON_REWARD]);
  if (change < 0) parts.push(['boxOff', BOX_OFF_REWARD]);
  if (solved) parts.push(['solved', SOLVED_REWARD]);
  return parts;
}
