import { deriveSeed, Pcg32 } from '@retrace/random';
import type { EnvironmentSpec } from '../environment.js';
import { randomAgent, randomVocabularyAgent } from '../random-agents.js';
import { defineEnvironment } from '../registry.js';
import { splitOf } from '../task-split.js';
import { FrozenLake, LAKE_MAX_STEPS } from './frozen-lake.js';
import { lakeExpert, lakeGreedy, lakeGreedyAvoid } from './lake-agents.js';
import { MOVES, drawLakeMap, formatLakeMap } from './lake-map.js';
import { LAKE_WORDS } from './lake-words.js';

const FROZEN_PROBABILITY = 0.8;

/** The 4×4 map that FrozenLake is known by; its shortest paths take six moves. */
const FIXED_MAP: readonly string[] = ['S___', '_O_O', '___O', 'O__G'];

const shared = {
  maxSteps: LAKE_MAX_STEPS,
  words: LAKE_WORDS,
  actionWords: MOVES,
  create: () => new FrozenLake(),
  agents: [randomAgent(MOVES), randomVocabularyAgent(LAKE_WORDS), lakeGreedy, lakeGreedyAvoid, lakeExpert],
} satisfies Partial<EnvironmentSpec>;

/** A random solvable lake a task; whether a map is for training or held out depends only on its content. */
export const frozenLake = defineEnvironment({
  ...shared,
  name: 'frozen-lake',
  description: 'Random 4×4 lakes: reach the goal in at most 10 moves without falling into a hole',
  splitsAreDisjoint: true,
  offersAnchors: true,
  sampleTask({ split, index, seed }) {
    const taskSeed = deriveSeed('frozen-lake', seed, split, index);
    const random = new Pcg32(taskSeed);
    for (;;) {
      const map = formatLakeMap(
        drawLakeMap(random, { frozenProbability: FROZEN_PROBABILITY, maxMoves: LAKE_MAX_STEPS }),
      );
      if (splitOf(map.join('/')) === split) return { task: { map }, seed: taskSeed };
    }
  },
});

/** One and the same lake in every episode: there is nothing to generalise to, so all splits are that lake. */
export const fixedLake = defineEnvironment({
  ...shared,
  name: 'fixed-lake',
  description: 'One 4×4 lake, the same in every episode',
  splitsAreDisjoint: false,
  offersAnchors: true,
  sampleTask: ({ split, index, seed }) => ({
    task: { map: FIXED_MAP },
    seed: deriveSeed('fixed-lake', seed, split, index),
  }),
});
