export type {
  Environment,
  EnvironmentSpec,
  Observation,
  ResetOptions,
  SampledTask,
  ScriptedAgent,
  StepResult,
} from './environment.js';
export { EnvironmentError, type EnvironmentErrorCode } from './errors.js';
export { defineEnvironment, getEnvironment, listEnvironments, specFault } from './registry.js';
export { deriveSeed, Pcg32, shuffle } from '@retrace/random';
export { splitOf } from './task-split.js';
export { wordsOf } from './text-world/text-world.js';
export { oneWordParser, type OneWordParser, type ParsedAction } from './parse/one-word.js';
export { randomAgent, randomVocabularyAgent } from './random-agents.js';
export { bandit } from './bandit/index.js';
export { fixedLake, frozenLake } from './frozen-lake/index.js';
export { memoryBandit } from './memory-bandit/index.js';
export { sokoban, sokobanSpec, sokobanTwoBoxes, type SokobanRules } from './sokoban/index.js';
export {
  countdown,
  countdownFour,
  countdownSpec,
  countdownWide,
  type CountdownRules,
} from './countdown/index.js';
export { lmrlMaze, maze } from './maze/index.js';
export {
  crafting,
  craftingMini,
  craftingOpen,
  craftingSmall,
  craftingSpec,
  type CraftingRules,
} from './crafting/index.js';
export { wordle } from './wordle/index.js';
export { grid, gridSmall, gridSpec, type GridRules } from './room-grid/index.js';
export { question, questionFault } from './question/index.js';
export {
  household,
  householdPut,
  householdSmall,
  householdSpec,
  type HouseholdRules,
} from './household/index.js';
