import { AlgorithmError } from '../errors.js';
import { checkPositive } from '../layout/check.js';
import { checkCorrectionInput, tokenLogRatio, type CorrectionInput } from './sequence-log-ratios.js';

export const REJECTION_STATISTICS = ['k1', 'k2', 'k3'] as const;
export const REJECTION_SCOPES = ['token', 'sequenceSum', 'sequenceMean', 'sequenceMax'] as const;
type RejectionScope = (typeof REJECTION_SCOPES)[number];

/**
 * One rule of rejection sampling on ρ_b, with log ρ clamped to ±20:
 *
 * - statistic `k1` bounds the ratio itself: kept while low ≤ e^x ≤ high, x = log ρ reduced over the scope; without `low`, only
 *   while e^x ≤ high.
 * - `k2` = ½ log²ρ and `k3` = ρ − 1 − log ρ are ≥ 0 and have one upper bound, `high`, on their reduced value.
 *
 * Scope `token` drops single tokens; the others reduce over a sequence and drop it whole. `k1` with `sequenceMax` drops each sequence
 * with a token whose ρ is over `high` (AReaL's maximum of ratios, SkyRL's upper outlier mask).
 */
export type RejectionRule =
  | {
      readonly statistic: 'k1';
      readonly scope: RejectionScope;
      readonly low?: number | null;
      readonly high: number;
    }
  | {
      readonly statistic: 'k2' | 'k3';
      readonly scope: RejectionScope;
      readonly high: number;
    };

export interface RejectionOptions {
  /** All of them must pass. */
  readonly rules: readonly RejectionRule[];
  /** A single token with ρ_b below this drops its whole sequence; null: no veto. */
  readonly vetoBelow?: number | null;
}

export interface Rejection {
  /** 1 for tokens that stay `[N]`; those that did not count before do not come back. */
  readonly keep: Uint8Array;
  /** Share of the counted tokens that were dropped. */
  readonly rejectedFraction: number;
  /** Share of the sequences with counted tokens of which at least one was dropped. */
  readonly touchedSequenceFraction: number;
}

/**
 * Drops tokens and sequences whose ratio to the behavior policy is out of bounds. Bounds are on ρ, not on −log ρ, so an asymmetric
 * range is not inverted.
 *
 * @throws AlgorithmError `INVALID_ARGUMENT` for arrays that do not fit, logprobs that are not finite, bounds that are not > 0,
 * low > high
 */
export function rejectTokens(
  input: CorrectionInput,
  { rules, vetoBelow = null }: RejectionOptions,
): Rejection {
  checkCorrectionInput(input);
  rules.forEach(checkRule);
  if (vetoBelow !== null) checkPositive({ vetoBelow });
  const { offsets } = input;
  const numTokens = input.proximalLogprobs.length;
  const counted = input.keep ?? new Uint8Array(numTokens).fill(1);
  const keep = Uint8Array.from(counted);
  for (let sequence = 0; sequence + 1 < offsets.length; sequence++) {
    const tokens: number[] = [];
    for (let t = offsets[sequence]; t < offsets[sequence + 1]; t++) if (counted[t] === 1) tokens.push(t);
    if (tokens.length === 0) continue;
    const logRatios = tokens.map((t) => tokenLogRatio(input, t));
    const vetoed = vetoBelow !== null && logRatios.some((log) => Math.exp(log) < vetoBelow);
    const dropped =
      vetoed || rules.some((rule) => rule.scope !== 'token' && !passes(rule, reduce(rule, logRatios)));
    tokens.forEach((t, i) => {
      const tokenDropped = rules.some(
        (rule) => rule.scope === 'token' && !passes(rule, computeStatistic(rule, logRatios[i])),
      );
      if (dropped || tokenDropped) keep[t] = 0;
    });
  }
  return { keep, ...countRejections(offsets, counted, keep) };
}

/** Statistic of one token: log ρ for k1, else the divergence. */
function computeStatistic({ statistic }: RejectionRule, logRatio: number): number {
  if (statistic === 'k1') return logRatio;
  return statistic === 'k2' ? 0.5 * logRatio * logRatio : Math.expm1(logRatio) - logRatio;
}

function reduce(rule: RejectionRule, logRatios: readonly number[]): number {
  const values = logRatios.map((log) => computeStatistic(rule, log));
  if (rule.scope === 'sequenceMax') return Math.max(...values);
  const sum = values.reduce((total, value) => total + value, 0);
  return rule.scope === 'sequenceMean' ? sum / values.length : sum;
}

function passes(rule: RejectionRule, value: number): boolean {
  if (rule.statistic !== 'k1') return value <= rule.high;
  const { low = null, high } = rule;
  return (low === null || value >= Math.log(low)) && value <= Math.log(high);
}

function countRejections(
  offsets: Int32Array,
  counted: Uint8Array,
  keep: Uint8Array,
): Pick<Rejection, 'rejectedFraction' | 'touchedSequenceFraction'> {
  let numCounted = 0;
  let numRejected = 0;
  let numSequences = 0;
  let numTouched = 0;
  for (let sequence = 0; sequence + 1 < offsets.length; sequence++) {
    const [countedBefore, rejectedBefore] = [numCounted, numRejected];
    for (let t = offsets[sequence]; t < offsets[sequence + 1]; t++) {
      numCounted += counted[t];
      numRejected += counted[t] - keep[t];
    }
    numSequences += Number(numCounted > countedBefore);
    numTouched += Number(numRejected > rejectedBefore);
  }
  return {
    rejectedFraction: numRejected / Math.max(1, numCounted),
    touchedSequenceFraction: numTouched / Math.max(1, numSequences),
  };
}

function checkRule(rule: RejectionRule, index: number): void {
  const name = `rules[${index}]`;
  const refuse = (problem: string): never => {
    throw new AlgorithmError('INVALID_ARGUMENT', `${name}.${problem}`);
  };
  if (!REJECTION_STATISTICS.includes(rule.statistic)) {
    refuse(`statistic is '${rule.statistic}', must be one of ${REJECTION_STATISTICS.join(', ')}`);
  }
  if (!REJECTION_SCOPES.includes(rule.scope)) {
    refuse(`scope is '${rule.scope}', must be one of ${REJECTION_SCOPES.join(', ')}`);
  }
  checkPositive({ [`${name}.high`]: rule.high });
  const { low = null } = rule as { readonly low?: number | null };
  if (low === null) return;
  if (rule.statistic !== 'k1') refuse(`low is ${low}, must be absent: ${rule.statistic} has one upper bound`);
  checkPositive({ [`${name}.low`]: low });
  if (low > rule.high) refuse(`low is ${low}, must not be more than high, ${rule.high}`);
}
