import type { StepTokens } from '../api/types';

/** One token as it is shown. */
export interface TokenView {
  readonly position: number;
  readonly id: number;
  /** Its text with blanks made visible; null when the tokenizer isn't known. */
  readonly text: string | null;
  readonly sampled: boolean;
  readonly logprob: number | null;
  readonly entropy: number | null;
  /** null: no policy of this run. */
  readonly policyVersion: number | null;
}

/** From this many nats on a token counts as fully surprising (probability 1 %). */
const MAX_SURPRISE_NATS = Math.log(100);

export function tokenViews(tokens: StepTokens): TokenView[] {
  return tokens.ids.map((id, position) => {
    const sampled = tokens.actionMask[position] === 1;
    const version = tokens.policyVersions[position];
    return {
      position,
      id,
      text: tokens.texts ? showBlanks(tokens.texts[position]) : null,
      sampled,
      logprob: sampled ? tokens.logprobs[position] : null,
      entropy: sampled ? (tokens.entropies[position] ?? null) : null,
      policyVersion: version >= 0 ? version : null,
    };
  });
}

/** 0 for a certain token, 1 for one of probability 1 % or less. */
export function surpriseOf(logprob: number): number {
  return Math.min(1, Math.max(0, -logprob / MAX_SURPRISE_NATS));
}

function showBlanks(text: string): string {
  if (text === '') return '∅';
  return text
    .replaceAll('\n', '⏎')
    .replaceAll('\t', '⇥')
    .replace(/^ +| +$/g, (blanks) => '·'.repeat(blanks.length));
}
