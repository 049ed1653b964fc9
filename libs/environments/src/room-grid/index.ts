import { deriveSeed, Pcg32 } from '@retrace/random';
import type { EnvironmentSpec } from '../environment.js';
import { EnvironmentError } from '../errors.js';
import { randomAgent } from '../random-agents.js';
import { defineEnvironment } from '../registry.js';
import { requireInteger } from '../require-integer.js';
import { splitOf } from '../task-split.js';
import { drawLevel, GRID_FAMILIES, type GridFamilyName } from './draw-level.js';
import { gridExpert } from './grid-agents.js';
import { GRID_WORDS } from './grid-words.js';
import { parseLevelTask } from './level.js';
import { GRID_MAX_STEPS, RoomGrid } from './room-grid.js';

const words = new Set(GRID_WORDS);

export interface GridRules {
  readonly name: string;
  readonly description: string;
  /** Families that tasks are drawn from, each as often as the others. */
  readonly families: readonly GridFamilyName[];
  /** Actions after which an episode is cut (default 60). */
  readonly maxSteps?: number;
}

/**
 * Makes an environment of some families of levels; give it to `defineEnvironment`.
 *
 * @throws EnvironmentError `INVALID_ARGUMENT` for no family, one that is none, or maxSteps outside 1 to 1000
 */
export function gridSpec({
  name,
  description,
  families,
  maxSteps = GRID_MAX_STEPS,
}: GridRules): EnvironmentSpec {
  requireInteger('maxSteps', maxSteps, { least: 1, most: 1000 });
  const unknown = families.find((family) => !GRID_FAMILIES.includes(family));
  if (families.length === 0 || unknown !== undefined) {
    throw new EnvironmentError(
      'INVALID_ARGUMENT',
      `families are ${JSON.stringify(families)}, must be of ${GRID_FAMILIES.join(', ')}`,
    );
  }
  return {
    name,
    description,
    maxSteps,
    words: GRID_WORDS,
    actionWords: null,
    splitsAreDisjoint: true,
    offersAnchors: true,
    create: () => new RoomGrid({ words, maxSteps }),
    sampleTask({ split, index, seed }) {
      const taskSeed = deriveSeed(name, seed, split, index);
      const random = new Pcg32(taskSeed);
      const family = families[random.nextBelow(families.length)];
      for (;;) {
        const task = drawLevel(random, family);
        if (splitOf(JSON.stringify(task)) === split) return { task: { ...task }, seed: taskSeed };
      }
    },
    familyOf: (task) => parseLevelTask(task).family,
    agents: [randomAgent([]), gridExpert],
  };
}

/** Rooms in BabyAI's words: the forty levels of AgentGym. */
export const grid = defineEnvironment(
  gridSpec({
    name: 'grid',
    description:
      'BabyAI in text: the forty levels of AgentGym, from a red ball in a room to sentences over nine rooms with locked doors',
    families: GRID_FAMILIES,
  }),
);

/** Three families in one room, for policies that are trained from random weights within minutes. */
export const gridSmall = defineEnvironment(
  gridSpec({
    name: 'grid-small',
    description:
      'BabyAI in text: go to a red ball, go to or pick up a named thing among others in one room, in at most 8 actions',
    families: ['go-to-red-ball', 'go-to-local-s8n7', 'pickup-dist-debug'],
    maxSteps: 8,
  }),
);
