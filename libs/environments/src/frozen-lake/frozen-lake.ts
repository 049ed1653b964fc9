import type { Json } from '@retrace/trajectory';
import type { Environment, Observation, ResetOptions, StepResult } from '../environment.js';
import { EnvironmentError } from '../errors.js';
import { INVALID_ACTION_NAMES, INVALID_ACTION_REWARD, INVALID_ACTION_VALUES } from '../invalid-action.js';
import { oneWordParser } from '../parse/one-word.js';
import { SnapshotFields } from '../snapshot-fields.js';
import { MOVES, NUM_CELLS, formatLakeMap, neighbour, parseLakeTask, type LakeMap } from './lake-map.js';
import { describeLake, describePlayer } from './lake-words.js';

/** Most moves of an episode; the one after it would be refused. */
export const LAKE_MAX_STEPS = 10;

const WORLD = 'frozen-lake';
const parseMove = oneWordParser(MOVES);
const GOAL_NAMES: readonly string[] = ['goal'];
const GOAL_VALUES: readonly number[] = [1];
const NO_NAMES: readonly string[] = [];
const NO_VALUES: readonly number[] = [];

/**
 * A lake that is not slippery: walk from start to goal in at most ten moves without falling into a hole.
 *
 * Reward 1 at the goal, −0.1 for an invalid action (the turn is lost), 0 otherwise. Goal and holes end the
 * episode (`terminated`); the tenth move cuts it (`truncated`). Success = the goal was reached.
 */
export class FrozenLake implements Environment {
  private lakeMap: LakeMap | null = null;
  private cell = 0;
  private numSteps = 0;
  private over = true;
  private lakeText = '';
  private anchorPrefix = '';

  reset(options: ResetOptions): Observation {
    const map = parseLakeTask(options.task);
    this.lakeMap = map;
    this.cell = map.start;
    this.numSteps = 0;
    this.over = false;
    this.lakeText = `${describeLake(map)} `;
    // The start is history, not state: lakes that differ only in it share their anchors.
    this.anchorPrefix = `${formatLakeMap(map).join('/').replace('S', '_')}@`;
    return this.observe();
  }

  step(action: string): StepResult {
    const map = this.map;
    if (this.over)
      throw new EnvironmentError('EPISODE_OVER', 'the episode is over: reset before the next step');
    const { parsedAction, actionValid } = parseMove(action);
    this.numSteps += 1;
    if (parsedAction !== null) {
      this.cell = neighbour(this.cell, MOVES.indexOf(parsedAction as (typeof MOVES)[number]));
    }
    const atGoal = this.cell === map.goal;
    const terminated = atGoal || map.holes[this.cell] === 1;
    const truncated = !terminated && this.numSteps >= LAKE_MAX_STEPS;
    this.over = terminated || truncated;
    return {
      observation: this.observe(),
      reward: actionValid ? Number(atGoal) : INVALID_ACTION_REWARD,
      rewardNames: actionValid ? (atGoal ? GOAL_NAMES : NO_NAMES) : INVALID_ACTION_NAMES,
      rewardValues: actionValid ? (atGoal ? GOAL_VALUES : NO_VALUES) : INVALID_ACTION_VALUES,
      terminated,
      truncated,
      parsedAction,
      actionValid,
      success: this.over ? atGoal : null,
      info: null,
    };
  }

  snapshot(): Json {
    const task = { map: formatLakeMap(this.map) };
    return { world: WORLD, task, cell: this.cell, numSteps: this.numSteps, over: this.over };
  }

  restore(snapshot: Json): Observation {
    const fields = new SnapshotFields(WORLD, snapshot);
    const cell = fields.integer('cell', 0, NUM_CELLS - 1);
    const numSteps = fields.integer('numSteps', 0, LAKE_MAX_STEPS);
    const over = fields.boolean('over');
    this.reset({ task: fields.task, seed: 0 });
    this.cell = cell;
    this.numSteps = numSteps;
    this.over = over;
    return this.observe();
  }

  close(): void {
    this.over = true;
  }

  /** The lake of the running episode, for experts. @throws EnvironmentError `NOT_RESET` before the first reset */
  get map(): LakeMap {
    if (this.lakeMap === null)
      throw new EnvironmentError('NOT_RESET', 'frozen lake: reset before the first step');
    return this.lakeMap;
  }

  /** The player's cell. */
  get position(): number {
    return this.cell;
  }

  private observe(): Observation {
    return {
      text: this.lakeText + describePlayer(this.cell),
      anchor: this.anchorPrefix + String(this.cell),
      legalActions: MOVES,
    };
  }
}
