import type { Json } from '@retrace/trajectory';
import type { Environment, Observation, ResetOptions, StepResult } from '../environment.js';
import { EnvironmentError } from '../errors.js';
import { DIRECTIONS, type Direction } from '../grid/directions.js';
import { INVALID_ACTION_NAMES, INVALID_ACTION_REWARD, INVALID_ACTION_VALUES } from '../invalid-action.js';
import { oneWordParser } from '../parse/one-word.js';
import { SnapshotFields } from '../snapshot-fields.js';
import { formatMaze, parseMazeTask, walk, type MazeMap } from './maze-map.js';
import { describeMaze } from './maze-words.js';

/** Moves after which AgentGym, and this environment, cut an episode. */
export const MAZE_MAX_STEPS = 50;

const WORLD = 'maze';
/** Actions as they are listed, and as AgentGym writes them. */
const parseMove = oneWordParser([...DIRECTIONS, ...DIRECTIONS.map((direction) => `move ${direction}`)]);
const GOAL_PARTS = { names: ['goal'], values: [1] };
const NO_PARTS = { names: [], values: [] };

/**
 * Find the way to the goal of a maze of which only the walls next to the player are told.
 *
 * Reward 1 at the goal and 0 elsewhere, as in AgentGym (LMRL-Gym pays −1 a move instead); an invalid action costs −0.1 and the turn. A move
 * into a wall is valid, changes nothing and uses the turn. The goal ends the episode (`terminated`), the fiftieth move cuts it
 * (`truncated`). Success = the goal was reached.
 */
export class Maze implements Environment {
  private episode: { readonly map: MazeMap; readonly anchorPrefix: string } | null = null;
  private cell = 0;
  private numSteps = 0;
  private over = true;

  reset({ task }: ResetOptions): Observation {
    const map = parseMazeTask(task);
    // The start is history, not state.
    this.episode = { map, anchorPrefix: `${formatMaze(map).join('/').replace('S', '_')}@` };
    this.cell = map.start;
    this.numSteps = 0;
    this.over = false;
    return this.observe();
  }

  step(action: string): StepResult {
    const { map } = this;
    if (this.over)
      throw new EnvironmentError('EPISODE_OVER', 'the episode is over: reset before the next step');
    const parsed = parseMove(action);
    const direction = (parsed.parsedAction?.replace('move ', '') ?? null) as Direction | null;
    this.numSteps += 1;
    if (direction !== null) this.cell = walk(map, this.cell, DIRECTIONS.indexOf(direction));
    const terminated = this.cell === map.goal;
    const truncated = !terminated && this.numSteps >= MAZE_MAX_STEPS;
    this.over = terminated || truncated;
    const parts = terminated ? GOAL_PARTS : NO_PARTS;
    return {
      observation: this.observe(),
      reward: direction === null ? INVALID_ACTION_REWARD : Number(terminated),
      rewardNames: direction === null ? INVALID_ACTION_NAMES : parts.names,
      rewardValues: direction === null ? INVALID_ACTION_VALUES : parts.values,
      terminated,
      truncated,
      parsedAction: direction,
      actionValid: parsed.actionValid,
      success: this.over ? terminated : null,
      info: null,
    };
  }

  snapshot(): Json {
    const { map, cell, numSteps, over } = this;
    return { world: WORLD, task: { maze: formatMaze(map) }, cell, numSteps, over };
  }

  restore(snapshot: Json): Observation {
    const fields = new SnapshotFields(WORLD, snapshot);
    const numSteps = fields.integer('numSteps', 0, MAZE_MAX_STEPS);
    const over = fields.boolean('over');
    this.reset({ task: fields.task, seed: 0 });
    const cell = fields.integer('cell', 0, this.map.walls.length - 1);
    if (this.map.walls[cell] === 1) {
      this.close();
      throw fields.fault('cell', 'be an open cell of the maze');
    }
    this.cell = cell;
    this.numSteps = numSteps;
    this.over = over;
    return this.observe();
  }

  close(): void {
    this.over = true;
  }

  /** The maze of the running episode, for experts. @throws EnvironmentError `NOT_RESET` before the first reset */
  get map(): MazeMap {
    if (this.episode === null) throw new EnvironmentError('NOT_RESET', 'maze: reset before the first step');
    return this.episode.map;
  }

  /** The player's cell. */
  get position(): number {
    return this.cell;
  }

  private observe(): Observation {
    return {
      text: describeMaze(this.map, this.cell),
      anchor: `${this.episode?.anchorPrefix}${this.cell}`,
      legalActions: DIRECTIONS,
    };
  }
}
