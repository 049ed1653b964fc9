import {
  evaluateLogprobs,
  openPolicyCheckpoint,
  PolicyError,
  type CheckpointFiles,
  type Transformer,
} from '@retrace/policy';
import {
  buildTokenBatch,
  type EpisodeColumns,
  type PolicyPublished,
  type TokenBatch,
} from '@retrace/trajectory';

/** Tokens that are named. */
const MOST_NAMED = 5;

export interface LogprobCheckInput {
  readonly checkpoints: CheckpointFiles;
  /** The policies whose tokens are checked; tokens of others are counted only. */
  readonly policies: readonly Pick<PolicyPublished, 'policyVersion' | 'weights'>[];
  readonly columns: EpisodeColumns;
  /** Most that a stored logprob may differ from the one computed now, nats. */
  readonly bound: number;
  /** Most tokens in one forward pass. */
  readonly maxTokensPerMicroBatch: number;
  /** Whether policies whose weights are gone are left out, as where a trainer removes them meanwhile; they are an error otherwise (default false). */
  readonly skipsMissing?: boolean;
}

/** How far stored logprobs are from those of the policy that is said to have sampled the tokens, nats. */
export interface LogprobGap {
  readonly numTokens: number;
  /** Mean of |stored − computed|; NaN without a token, infinite where a logprob is not finite now. */
  readonly meanDifference: number;
  /** NaN without a token. */
  readonly maxDifference: number;
  /** Tokens that differ by more than the bound, or whose logprob is not finite now. */
  readonly numBeyond: number;
}

/** A token whose stored logprob was computed again. */
export interface CheckedToken {
  readonly episodeId: string;
  readonly step: number;
  readonly tokenId: number;
  readonly policyVersion: number;
  readonly stored: number;
  readonly computed: number;
}

export interface LogprobCheck extends LogprobGap {
  readonly byPolicy: readonly (LogprobGap & { readonly policyVersion: number })[];
  /** Those beyond the bound that differ most, the worst first, at most five. */
  readonly worst: readonly CheckedToken[];
  /** Action tokens that were not checked. */
  readonly tokensNotChecked: {
    /** Of a policy that was not asked about or is gone, or of none of the run. */
    readonly otherPolicy: number;
    /** Chosen greedily, by top-k or top-p, or at an unknown temperature: what is stored is no logprob of a sample from all tokens. */
    readonly otherwiseSampled: number;
    readonly missingLogprob: number;
  };
}

/** An action token that can be checked, with what it is said to have been sampled by. */
interface Origin {
  readonly n: number;
  readonly row: number;
  readonly episode: number;
  readonly policyVersion: number;
  readonly temperature: number;
}

/**
 * Computes the logprobs of stored action tokens again, under the weights of the policy version that is said to have sampled each and at its
 * temperature, and compares them with what is stored. A policy's own sampler differs by rounding only; weights that a server did not take, a version
 * that is recorded wrongly, or another tokenization show as a gap.
 *
 * @throws PolicyError where weights are corrupt, or missing without `skipsMissing`
 */
export async function checkLogprobs(input: LogprobCheckInput): Promise<LogprobCheck> {
  const { columns, policies, bound, skipsMissing = false } = input;
  const batch = buildTokenBatch(columns);
  const { origins, tokensNotChecked } = listOrigins(columns, batch, policies);
  const byPolicy: LogprobCheck['byPolicy'][number][] = [];
  let checked: CheckedToken[] = [];
  for (const policy of policies) {
    const { policyVersion } = policy;
    const own = origins.get(policyVersion) ?? [];
    if (own.length === 0) continue;
    const model = await openPolicyCheckpoint(input.checkpoints, policy.weights).catch((error: unknown) => {
      if (skipsMissing && error instanceof PolicyError && error.code === 'CHECKPOINT_MISSING') return null;
      throw error;
    });
    if (model === null) {
      tokensNotChecked.otherPolicy += own.length;
      continue;
    }
    try {
      const tokens = await computeAgain(own, { model, batch, ...input });
      byPolicy.push({ policyVersion, ...computeGap(tokens, bound) });
      checked = checked.concat(tokens);
    } finally {
      model.dispose();
    }
  }
  const worst = checked
    .filter((token) => computeDifference(token) > bound)
    .sort((a, b) => computeDifference(b) - computeDifference(a))
    .slice(0, MOST_NAMED);
  return { ...computeGap(checked, bound), byPolicy, worst, tokensNotChecked };
}

interface Computing extends Pick<LogprobCheckInput, 'columns' | 'maxTokensPerMicroBatch'> {
  readonly model: Transformer;
  readonly batch: TokenBatch;
}

/** Computes the logprobs of tokens of one policy. */
async function computeAgain(origins: readonly Origin[], computing: Computing): Promise<CheckedToken[]> {
  const { model, batch, columns, maxTokensPerMicroBatch } = computing;
  const tokens: CheckedToken[] = [];
  for (const temperature of new Set(origins.map((origin) => origin.temperature))) {
    const some = origins.filter((origin) => origin.temperature === temperature);
    const actionMask = new Uint8Array(batch.tokenIds.length);
    for (const { n } of some) actionMask[n] = 1;
    const options = { temperature, maxTokensPerMicroBatch, actionMask };
    const { logprobs } = await evaluateLogprobs(model, batch, options);
    for (const { n, row, episode, policyVersion } of some)
      tokens.push({
        episodeId: columns.episodeIds[episode],
        step: columns.steps[row],
        tokenId: batch.tokenIds[n],
        policyVersion,
        stored: batch.behaviorLogprobs[n],
        computed: logprobs[n],
      });
  }
  return tokens;
}

/** The tokens that can be checked by their policy version, and how many can't. */
function listOrigins(
  columns: EpisodeColumns,
  batch: TokenBatch,
  policies: readonly Pick<PolicyPublished, 'policyVersion'>[],
) {
  const origins = new Map<number, Origin[]>(policies.map(({ policyVersion }) => [policyVersion, []]));
  const tokensNotChecked = { otherPolicy: 0, otherwiseSampled: 0, missingLogprob: 0 };
  for (let episode = 0; episode < columns.episodeIds.length; episode++) {
    const [from, to] = [batch.episodeActionOffsets[episode], batch.episodeActionOffsets[episode + 1]];
    for (let a = from; a < to; a++) {
      const n = batch.actionTokens[a];
      const row = columns.stepOffsets[episode] + batch.actionStep[a];
      const policyVersion = batch.policyVersions[n];
      const temperature = columns.temperatures[row];
      const own = origins.get(policyVersion);
      if (own === undefined) tokensNotChecked.otherPolicy++;
      else if (columns.greedy[row] === 1 || !(temperature > 0)) tokensNotChecked.otherwiseSampled++;
      else if (Number.isNaN(batch.behaviorLogprobs[n])) tokensNotChecked.missingLogprob++;
      else own.push({ n, row, episode, policyVersion, temperature });
    }
  }
  return { origins, tokensNotChecked };
}

/** Infinite where what is computed now is no number. */
function computeDifference({ stored, computed }: CheckedToken): number {
  const difference = Math.abs(stored - computed);
  return Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference;
}

function computeGap(tokens: readonly CheckedToken[], bound: number): LogprobGap {
  let sum = 0;
  let maxDifference = 0;
  let numBeyond = 0;
  for (const token of tokens) {
    const difference = computeDifference(token);
    sum += difference;
    maxDifference = Math.max(maxDifference, difference);
    if (difference > bound) numBeyond++;
  }
  const numTokens = tokens.length;
  return {
    numTokens,
    meanDifference: sum / numTokens,
    maxDifference: numTokens > 0 ? maxDifference : Number.NaN,
    numBeyond,
  };
}
