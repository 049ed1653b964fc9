import type { Replay } from '../api-types/schema';
import { formatNumber } from '../format/numbers';

type Result = NonNullable<Replay['result']>;

/** The outcome of a replay in words, and how good it is. */
export interface ReplayVerdict {
  readonly tone: 'good' | 'neutral' | 'bad';
  readonly title: string;
  /** Empty where there is nothing to add. */
  readonly detail: string;
}

/** Says in words whether an update gave the same when it was made again, or where it differs first. */
export function replayVerdict(result: Result): ReplayVerdict {
  const { isReproduced, lossDifference, sameWeights, sameTokens, firstDifferingStep } = result;
  const isSameLoss = lossDifference === 0;
  if (isSameLoss && sameWeights && sameTokens !== false && firstDifferingStep === null) {
    const same = sameTokens === null ? 'loss and weights' : 'loss, weights and tokens';
    return { tone: 'good', title: `Same ${same}, bit for bit`, detail: '' };
  }
  const detail = [firstDifference(result), stateDifference(result)].filter((part) => part !== '').join('; ');
  if (isSameLoss)
    return { tone: 'neutral', title: `Same loss, other ${listOthers(result).join(' and ')}`, detail };
  return isReproduced
    ? { tone: 'neutral', title: 'Same loss but for rounding', detail }
    : { tone: 'bad', title: 'Another loss', detail };
}

/** The parts that differ though the loss, which the first step has before it changes the weights, is the same. */
function listOthers({ sameWeights, sameTokens }: Result): string[] {
  const others = [...(sameWeights ? [] : ['weights']), ...(sameTokens === false ? ['tokens'] : [])];
  return others.length === 0 ? ['optimizer steps'] : others;
}

function firstDifference({ steps, firstDifferingStep }: Result): string {
  const step = steps?.find((each) => each.step === firstDifferingStep);
  if (step === undefined) return '';
  const isLoss = step.recordedLoss !== step.replayedLoss;
  const [recorded, replayed] = isLoss
    ? [step.recordedLoss, step.replayedLoss]
    : [step.recordedGradientNorm, step.replayedGradientNorm];
  const what = isLoss ? 'loss' : 'gradient norm';
  return `first in optimizer step ${step.step} of ${steps?.length ?? 0}: ${what} ${digits(recorded)}, now ${digits(replayed)}`;
}

function stateDifference({ firstInexact, beganAfter }: Result): string {
  if (firstInexact === null) return '';
  return `the state that it starts from was made again from update ${beganAfter} on, and differs since update ${firstInexact}`;
}

/** All digits, as differences are small. */
function digits(value: number | null): string {
  return value === null ? formatNumber(value) : `${value}`;
}
