import type { QTransitions } from '@retrace/algorithms';
import { evaluateLogprobs, type Transformer } from '@retrace/policy';
import type { TokenBatch } from '@retrace/trajectory';
import type { Decision, LoggedDecisions } from './logged-decisions.js';

interface QFeatureOptions {
  readonly temperature: number;
  readonly maxTokensPerMicroBatch: number;
}

/** Features for a linear Q model, or the reason why there can be none. */
export type QFeatures =
  | { readonly kind: 'features'; readonly transitions: QTransitions }
  | { readonly kind: 'none'; readonly reason: string };

/** E_π Q needs the candidate's probability of every action in every state; beyond these limits it would cost more than it is worth. */
const MAX_ACTIONS = 32;
const MAX_FEATURES = 160;
const MAX_EVALUATED_TOKENS = 20_000_000;
/** Tokens of alternatives in one call. */
const TOKENS_PER_CHUNK = 262_144;

/**
 * Features φ(s, a) = φ(s) ⊗ onehot(a) and their expectation under the candidate. Actions are the distinct token sequences
 * that were taken; the candidate's remaining probability belongs to one more, "another", so the expectation is exact. The
 * state is a constant, how far the episode has come, the candidate's own critic where it has one, and its anchor where
 * the episodes share few of them.
 */
export async function qFeatures(
  model: Transformer,
  batch: TokenBatch,
  logged: LoggedDecisions,
  values: Float32Array | null,
  options: QFeatureOptions,
): Promise<QFeatures> {
  const { decisions, offsets, rewards, groupIds } = logged;
  const actions = new Map<string, { readonly number: number; readonly tokens: Int32Array }>();
  const taken = decisions.map(({ firstToken, endToken }) => {
    const tokens = batch.tokenIds.subarray(firstToken, endToken);
    const key = tokens.join(' ');
    const known = actions.get(key) ?? { number: actions.size, tokens };
    actions.set(key, known);
    return known.number;
  });
  if (actions.size > MAX_ACTIONS) {
    return {
      kind: 'none',
      reason: `a Q model needs E_π Q over all actions; the episodes have ${actions.size} different ones, at most ${MAX_ACTIONS} can be weighed`,
    };
  }
  const alternatives = [...actions.values()].map(({ tokens }) => tokens);
  const numEvaluated = decisions.reduce(
    (sum, decision) => sum + decision.endToken - decision.sequenceStart,
    0,
  );
  if (numEvaluated * alternatives.length > MAX_EVALUATED_TOKENS) {
    return {
      kind: 'none',
      reason: `a Q model needs the candidate's probability of ${alternatives.length} actions in ${decisions.length} states, about ${numEvaluated * alternatives.length} tokens; evaluate fewer episodes`,
    };
  }
  const probabilities = await actionProbabilities(model, batch, decisions, alternatives, options);
  const state = stateFeatures(decisions, values, alternatives.length + 1);
  const numActions = alternatives.length + 1;
  const numFeatures = state.size * numActions;
  const features = new Float32Array(decisions.length * numFeatures);
  const expectedFeatures = new Float32Array(decisions.length * numFeatures);
  decisions.forEach((_, d) => {
    let rest = 1;
    for (let a = 0; a < numActions; a++) {
      const probability =
        a < alternatives.length ? probabilities[d * alternatives.length + a] : Math.max(0, rest);
      rest -= probability;
      for (let i = 0; i < state.size; i++) {
        const feature = state.rows[d * state.size + i];
        const at = d * numFeatures + a * state.size + i;
        if (taken[d] === a) features[at] = feature;
        expectedFeatures[at] = probability * feature;
      }
    }
  });
  return {
    kind: 'features',
    transitions: { offsets, groupIds, numFeatures, features, expectedFeatures, rewards },
  };
}

/** π(a|s) of each alternative in the state of each decision `[D·A]`. */
async function actionProbabilities(
  model: Transformer,
  batch: TokenBatch,
  decisions: readonly Decision[],
  alternatives: readonly Int32Array[],
  { temperature, maxTokensPerMicroBatch }: QFeatureOptions,
): Promise<Float64Array> {
  const probabilities = new Float64Array(decisions.length * alternatives.length);
  const longest = Math.max(...alternatives.map(({ length }) => length));
  for (let from = 0; from < decisions.length;) {
    let to = from;
    let numTokens = 0;
    while (to < decisions.length && numTokens < TOKENS_PER_CHUNK) {
      numTokens += alternatives.length * (decisions[to].firstToken - decisions[to].sequenceStart + longest);
      to++;
    }
    const parts: { readonly prefix: Int32Array; readonly action: Int32Array }[] = [];
    for (const { sequenceStart, firstToken } of decisions.slice(from, to)) {
      const prefix = batch.tokenIds.subarray(sequenceStart, firstToken);
      for (const action of alternatives) parts.push({ prefix, action });
    }
    const sequenceOffsets = new Int32Array(parts.length + 1);
    parts.forEach(({ prefix, action }, s) => {
      sequenceOffsets[s + 1] = sequenceOffsets[s] + prefix.length + action.length;
    });
    const tokenIds = new Int32Array(sequenceOffsets[parts.length]);
    const actionMask = new Uint8Array(tokenIds.length);
    parts.forEach(({ prefix, action }, s) => {
      tokenIds.set(prefix, sequenceOffsets[s]);
      tokenIds.set(action, sequenceOffsets[s] + prefix.length);
      actionMask.fill(1, sequenceOffsets[s] + prefix.length, sequenceOffsets[s + 1]);
    });
    const { logprobs } = await evaluateLogprobs(
      model,
      { tokenIds, sequenceOffsets },
      { temperature, maxTokensPerMicroBatch, actionMask },
    );
    parts.forEach((_, s) => {
      let sum = 0;
      for (let n = sequenceOffsets[s]; n < sequenceOffsets[s + 1]; n++) sum += logprobs[n];
      probabilities[from * alternatives.length + s] = Math.exp(sum);
    });
    from = to;
  }
  return probabilities;
}

function stateFeatures(
  decisions: readonly Decision[],
  values: Float32Array | null,
  numActions: number,
): { readonly size: number; readonly rows: Float32Array } {
  const lastStep = Math.max(1, ...decisions.map(({ step }) => step));
  const numbers = new Map<string, number>();
  for (const { anchor } of decisions) {
    if (anchor !== null && !numbers.has(anchor)) numbers.set(anchor, numbers.size);
  }
  const plain = values === null ? 2 : 3;
  const usesAnchors = (plain + numbers.size) * numActions <= MAX_FEATURES;
  const size = plain + (usesAnchors ? numbers.size : 0);
  const rows = new Float32Array(decisions.length * size);
  decisions.forEach(({ step, anchor, firstToken }, d) => {
    rows[d * size] = 1;
    rows[d * size + 1] = step / lastStep;
    if (values !== null) rows[d * size + 2] = values[firstToken];
    const number = anchor === null ? undefined : numbers.get(anchor);
    if (usesAnchors && number !== undefined) rows[d * size + plain + number] = 1;
  });
  return { size, rows };
}
