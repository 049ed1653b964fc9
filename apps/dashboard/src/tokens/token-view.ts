import type { StepTokens, TrainedTokenColumns } from '../api-types/schema';

/** Figures that the loss of an update read of a token; null where the update did not have one. */
export interface TrainedToken {
  readonly advantage: number | null;
  readonly ratio: number | null;
  readonly value: number | null;
  readonly kl: number | null;
  readonly teacherLogprob: number | null;
  /** Share of its optimizer steps in which the loss clipped the token. */
  readonly clippedShare: number;
}

/** The trained tokens of one step, by their place in it. */
export type TrainedStep = ReadonlyMap<number, TrainedToken>;

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
  /** null = the update did not train it, or none is looked at. */
  readonly trained: TrainedToken | null;
}

/** The tokens of a step, in order. */
export function tokenViews(tokens: StepTokens, trained?: TrainedStep): TokenView[] {
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
      trained: trained?.get(position) ?? null,
    };
  });
}

/** The trained tokens of an episode, by step and by place in the step. */
export function trainedSteps(tokens: TrainedTokenColumns): ReadonlyMap<number, TrainedStep> {
  const steps = new Map<number, Map<number, TrainedToken>>();
  tokens.steps.forEach((step, t) => {
    const places = steps.get(step) ?? new Map<number, TrainedToken>();
    steps.set(step, places);
    places.set(tokens.positions[t], {
      advantage: tokens.advantages[t],
      ratio: tokens.ratios[t],
      value: tokens.values[t],
      kl: tokens.kls[t],
      teacherLogprob: tokens.teacherLogprobs[t],
      clippedShare: tokens.clippedShares[t],
    });
  });
  return steps;
}

function showSpaces(text: string): string {
  if (text === '') return '∅';
  return text
    .replaceAll('\n', '⏎')
    .replaceAll('\t', '⇥')
    .replace(/^ +| +$/g, (spaces) => '·'.repeat(spaces.length));
}
