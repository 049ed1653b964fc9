import { pick } from '@retrace/random';
import type { ScriptedAgent } from './environment.js';

/** Uniform over the legal actions, or over `actions` where the environment lists none. */
export function randomAgent(actions: readonly string[]): ScriptedAgent {
  return {
    name: 'random',
    act: (_environment, observation, random) => pick(observation.legalActions ?? actions, random),
  };
}

/**
 * Uniform over a whole vocabulary, as an untrained word-level policy. Its success depends on how many
 * words there are, so name the count beside it.
 */
export function randomVocabularyAgent(vocabulary: readonly string[]): ScriptedAgent {
  return { name: 'random-vocabulary', act: (_environment, _observation, random) => pick(vocabulary, random) };
}
