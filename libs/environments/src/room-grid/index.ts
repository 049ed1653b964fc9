import type { EnvironmentSpec } from '../environment.js';
import { EnvironmentError } from '../errors.js';
import { randomAgent } from '../random-agents.js';
import { deriveSeed } from '../random/derive-seed.js';
import { Pcg32 } from '../random/pcg32.js';
import { defineEnvironment } from '../registry.js';
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
}

/**
 * Makes an environment of some families of levels; give it to `defineEnvironment`.
 *
 * @throws EnvironmentError `INVALID_ARGUMENT` for no family, or one that is none
 */
export function gridSpec({ name, description, families }: GridRules): EnvironmentSpec {
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
    maxSteps: GRID_MAX_STEPS,
    words: GRID_WORDS,
    actionWords: null,
    splitsAreDisjoint: true,
    offersAnchors: true,
    create: () => new RoomGrid(words),
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
