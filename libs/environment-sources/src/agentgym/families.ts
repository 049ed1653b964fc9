import { EnvironmentSourceError } from '../errors.js';
import {
  afterLabel,
  afterLastLabel,
  labelledOrWhole,
  sqlBlock,
  wholeText,
  type ActionRule,
} from './actions.js';
import { alfworldTask, babyAiLevel, craftingDepth, scienceTask } from './task-families.js';

/** Where one environment of AgentGym differs from the others, from its server and its client (WooooDyy/AgentGym 3ef9235). */
export interface AgentGymFamily {
  readonly description: string;
  /** Number of tasks by index; null where the recipe must say it (`given`), or where a seed makes the task (`seeded`). */
  readonly numTasks: number | 'given' | 'seeded';
  /** Path before the verbs. */
  readonly path?: string;
  /** `id` in an object, or `env_idx` in place of a bare number. */
  readonly instance: 'id' | 'env_idx';
  /** Field of an index in the body of `create`, where the server wants one; `reset` replaces that task. */
  readonly createIndex?: string;
  /** Field of the index (or seed) in the body of `reset`. */
  readonly resetIndex: string;
  /** More fields of `reset`, which the recipe's options may replace. */
  readonly resetFields?: Readonly<Record<string, unknown>>;
  readonly action: ActionRule;
  /** Field that the client takes as reward; a `score` is a running total, so the reward of a step is its change. */
  readonly reward: 'reward' | 'score';
  /** Least last reward, or total score, that is a success. */
  readonly successFrom: number;
  /** Whether the server closes instances. Of one that can't, each instance is played again, and again by later sessions. */
  readonly hasClose: boolean;
  /** First observation, where the server tells the task beside it; the agent sees what AgentGym's client shows. */
  readonly openingOfReset?: (answer: unknown, observation: string) => string;
  /** Kind of a task by its index. */
  readonly familyByIndex?: (index: number) => string;
  /** Kind of the task that a reset answered with; null where it does not say. */
  readonly familyOfReset?: (answer: unknown) => string | null;
  /** Route that is asked for the actions after each answer, where the answer has none. */
  readonly actionsRoute?: string;
  /** Most episodes at a time, where the server gives a slot that is in use to another episode. */
  readonly maxEpisodes?: number;
}

const NAMED = { instance: 'id', reward: 'reward', successFrom: 1, hasClose: false } as const;
const INDEXED = { instance: 'env_idx', reward: 'reward', successFrom: 1, hasClose: false } as const;
const TOOLS = { ...INDEXED, createIndex: 'id', resetIndex: 'id', action: wholeText } as const;

const FAMILIES: Readonly<Record<string, AgentGymFamily>> = {
  textcraft: {
    ...{
      ...NAMED,
      description: 'Craft an item by recipes that are listed',
      numTasks: 544,
      resetIndex: 'data_idx',
    },
    ...{ action: labelledOrWhole, hasClose: true, familyOfReset: craftingDepth },
  },
  babyai: {
    ...{
      ...NAMED,
      description: 'Follow an instruction in a grid of rooms',
      numTasks: 4000,
      resetIndex: 'data_idx',
    },
    ...{ action: labelledOrWhole, reward: 'score', successFrom: Number.MIN_VALUE, hasClose: true },
    familyByIndex: babyAiLevel,
  },
  maze: {
    ...{ ...NAMED, description: 'Find the goal of a maze', numTasks: 26, path: 'maze/', resetIndex: 'game' },
    action: afterLabel,
  },
  wordle: {
    ...{
      ...NAMED,
      description: 'Guess a word of five letters',
      numTasks: 'seeded',
      path: 'wordle/',
      resetIndex: 'seed',
    },
    action: afterLabel,
  },
  alfworld: {
    ...{ ...NAMED, description: 'Do a household task in text', numTasks: 'given', resetIndex: 'game' },
    ...{ resetFields: { world_type: 'Text' }, action: afterLastLabel, familyOfReset: alfworldTask },
  },
  sciworld: {
    ...{
      ...NAMED,
      description: 'Do an experiment of elementary science',
      numTasks: 'given',
      resetIndex: 'data_idx',
    },
    ...{ action: afterLastLabel, reward: 'score', successFrom: 100, hasClose: true },
    openingOfReset: scienceTask,
  },
  webshop: {
    ...{
      ...INDEXED,
      description: 'Buy a product that fits a wish',
      numTasks: 'given',
      resetIndex: 'session_id',
    },
    ...{ action: afterLastLabel, maxEpisodes: 8000, actionsRoute: 'available_actions' },
  },
  sqlgym: {
    ...{
      ...INDEXED,
      description: 'Answer a question by one SQL query',
      numTasks: 9428,
      resetIndex: 'item_id',
    },
    ...{ action: sqlBlock, maxEpisodes: 8 },
  },
  searchqa: {
    ...{ ...TOOLS, description: 'Answer a question with a search engine', numTasks: 221_329, hasClose: true },
  },
  weather: { ...TOOLS, description: 'Answer questions about weather with tools', numTasks: 343 },
  movie: { ...TOOLS, description: 'Answer questions about films with tools', numTasks: 238 },
  academia: { ...TOOLS, description: 'Answer questions about papers with tools', numTasks: 20 },
  todo: { ...TOOLS, description: 'Work on a list of tasks with tools', numTasks: 155 },
  sheet: { ...TOOLS, description: 'Work on a spreadsheet with tools', numTasks: 20 },
};

/** @throws EnvironmentSourceError `FAMILY_UNKNOWN` naming the known ones */
export function findFamily(name: string): AgentGymFamily {
  if (Object.hasOwn(FAMILIES, name)) return FAMILIES[name];
  const known = Object.keys(FAMILIES).join(', ');
  throw new EnvironmentSourceError(
    'FAMILY_UNKNOWN',
    `environment.server.family: got "${name}", must be one of ${known}`,
  );
}
