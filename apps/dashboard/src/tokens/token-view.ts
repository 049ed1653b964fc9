import type { StepTokens } from '../api/schema';

/** A token with what the page shows of it. */
export interface TokenView {
  readonly position: number;
  readonly id: number;
  /** Text with visible spaces and line breaks; null when the tokenizer is unavailable. */
  readonly text: string | null;
  readonly sampled: boolean;
  /** Nats; null for a token that was not sampled, and when missing. */
  readonly logprob: number | null;
  readonly entropy: number | null;
  /** null = no policy of this run. */
  readonly policyVersion: number | null;
}

/** −logprob from which a token counts as fully surprising: probability 1%. */
const MAX_SURPRISE_NATS = Math.log(100);

/** The tokens of a step, in order. */
export function tokenViews(tokens: StepTokens): TokenView[] {
  return tokens.ids.map((id, position) => {
    const sampled = tokens.actionMask[position] === 1;
    const version = tokens.policyVersions[position];
    return {
      position,
      id,
      text: tokens.texts ? showSpaces(tokens.texts[position]) : null,
      sampled,
      logprob: sampled ? tokens.logprobs[position] : null,
      entropy: sampled ? (tokens.entropies[position] ?? null) : null,
      policyVersion: version >= 0 ? version : null,
    };
  });
}

/** Maps a logprob to [0, 1]: 0 for a certain token, 1 for a probability of 1% or less. */
export function surpriseOf(logprob: number): number {
  return Math.min(1, Math.max(0, -logprob / MAX_SURPRISE_NATS));
}

function showSpaces(text: string): string {
  if (text === '') return '∅';
  return text
    .replaceAll('\n', '⏎')
    .replaceAll('\t', '⇥')
    .replace(/^ +| +$/g, (spaces) => '·'.repeat(spaces.length));
}
