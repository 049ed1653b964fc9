import type { Observation, StepResult } from '@retrace/environments';
import type { EndMove, FailMove } from '../loop/episode-loop.js';
import type { EpisodeOutcome } from './episode-recorder.js';
import type { EpisodeFailure, Prompt } from '../turn/turn.js';

export const NO_OBSERVATION: Observation = { text: '', anchor: null, legalActions: null };

/** A prompt without tokens. */
export function emptyPrompt(observation: Observation): Prompt {
  return { observation, tokenIds: new Int32Array(0), keptPrefixTokens: 0 };
}

/**
 * The end of an episode whose loop has nothing more to do.
 *
 * @param result of the last actions; null when there were none
 */
export function toOutcome({ endDetail, final }: EndMove, result: StepResult | null): EpisodeOutcome {
  const success = result?.success ?? null;
  if (result?.terminated) return { endReason: 'terminated', endDetail: '', final, success, failure: null };
  const detail = result?.truncated ? 'step limit of the environment' : endDetail;
  return { endReason: 'truncated', endDetail: detail, final, success, failure: null };
}

export function environmentFails(failure: string): FailMove {
  return { kind: 'fail', of: 'environment', failure };
}

/** The end of an episode that can't go on. */
export function failedEnding(failure: EpisodeFailure): EpisodeOutcome {
  const endDetail = `${failure.of} failed: ${failure.reason}`;
  const final = emptyPrompt(NO_OBSERVATION);
  return { endReason: 'truncated', endDetail, final, success: null, failure };
}
