import { describe, expect, it } from 'vitest';
import type { Replay } from '../api-types/schema';
import { replayVerdict } from './replay-verdict';

const EXACT: NonNullable<Replay['result']> = {
  ...{ updateNumber: 3, numEpisodes: 8, isReproduced: true, lossDifference: 0, sameWeights: true },
  ...{
    sameTokens: true,
    engine: null,
    metrics: [],
    firstDifferingStep: null,
    beganAfter: 2,
    firstInexact: null,
  },
  steps: [
    { step: 1, recordedLoss: 0.5, replayedLoss: 0.5, recordedGradientNorm: 1, replayedGradientNorm: 1 },
    { step: 2, recordedLoss: 0.25, replayedLoss: 0.25, recordedGradientNorm: 2, replayedGradientNorm: 2 },
  ],
};

describe('what is said of a replay', () => {
  it('is that all is the same, and of what that is known', () => {
    expect(replayVerdict(EXACT)).toEqual({
      ...{ tone: 'good', title: 'Same loss, weights and tokens, bit for bit', detail: '' },
    });
    expect(replayVerdict({ ...EXACT, sameTokens: null }).title).toBe('Same loss and weights, bit for bit');
  });

  it('names the first optimizer step that differs, with every digit', () => {
    const [first, second] = EXACT.steps ?? [];
    const steps = [first, { ...second, replayedLoss: 0.2500001 }];
    const rounded = { ...EXACT, steps, firstDifferingStep: 2, lossDifference: 1e-7, sameWeights: false };
    expect(replayVerdict(rounded)).toEqual({
      tone: 'neutral',
      title: 'Same loss but for rounding',
      detail: 'first in optimizer step 2 of 2: loss 0.25, now 0.2500001',
    });
    expect(replayVerdict({ ...rounded, isReproduced: false })).toMatchObject({
      tone: 'bad',
      title: 'Another loss',
    });
  });

  it('names a gradient norm where the losses are equal, and a state that was not', () => {
    const [first, second] = EXACT.steps ?? [];
    const steps = [{ ...first, replayedGradientNorm: 1.5 }, second];
    const other = {
      ...EXACT,
      steps,
      firstDifferingStep: 1,
      sameWeights: false,
      beganAfter: 0,
      firstInexact: 2,
    };
    expect(replayVerdict(other)).toEqual({
      tone: 'neutral',
      title: 'Same loss, other weights',
      detail:
        'first in optimizer step 1 of 2: gradient norm 1, now 1.5; the state that it starts from was made again from update 0 on, and differs since update 2',
    });
  });

  it('names tokens and steps that differ where the weights do not', () => {
    const title = (changes: Partial<typeof EXACT>) => replayVerdict({ ...EXACT, ...changes }).title;
    expect(title({ sameTokens: false })).toBe('Same loss, other tokens');
    expect(title({ sameTokens: false, sameWeights: false })).toBe('Same loss, other weights and tokens');
    expect(title({ firstDifferingStep: 1 })).toBe('Same loss, other optimizer steps');
  });
});
