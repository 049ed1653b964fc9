import { episodeDigests, episodesByRun } from '@retrace/trajectory';
import { encodeRows, listColumn, numberColumn, textColumn, type NamedColumns } from '../arrow/arrow-rows.js';
import type { UpdateColumns } from '../update/loss-columns.js';
import { episodeOfSequence, maskOfTokens, scatter } from '../update/action-tokens.js';
import type { MadeBatch } from './make-batch.js';

/** The key of the schema's metadata that says what the batch is, as JSON. */
const METADATA_KEY = 'retrace';

/**
 * The rows of a batch in Arrow's stream format, one a sequence, in the order of its episodes.
 *
 * Legend: S sequences · N tokens · A action tokens. Lists of a row have one value a token; a column that the recipe does not compute is left out.
 *
 * | column | type | |
 * | --- | --- | --- |
 * | `run_id`, `episode_id`, `group_id` | text | |
 * | `episode_digest` | text | of what was read of the episode; left out where an episode is of another run |
 * | `sequence` | int32 | counted within the episode, which has several where its prompts dropped tokens |
 * | `copies` | int32 | how often the sequence is to be trained: 1 but for resampling |
 * | `reward` | float64 | total of the episode; NaN where it is missing |
 * | `token_ids`, `policy_versions` | list<int32> | |
 * | `action_mask` | list<uint8> | 1 = sampled by the policy |
 * | `loss_mask` | list<uint8> | 1 = counts in the loss and its denominators |
 * | `behavior_logprobs` | list<float32> | nats, as they were recorded when the token was sampled |
 * | `old_logprobs` | list<float32> | of the policy that the ratio of the loss is to: the update's first one, or the one that sampled |
 * | `advantages`, `token_rewards` | list<float32> | |
 * | `token_scores` | list<float32> | the rewards without the KL from the reference policy, where that is charged to them |
 * | `importance_weights` | list<float32> | factors of the loss: of corrections, of the sampler, of the choice of high-entropy tokens |
 * | `reference_logprobs`, `returns`, `values` | list<float32> | |
 */
export function batchRows({ runId, rewardVersion, inputs, prepared }: MadeBatch): Uint8Array {
  const { plan, columns: episodes, recipe } = inputs;
  const { scored, rewardsWithKl, columns, proximal } = prepared;
  const batch = prepared.batch.tokens;
  const { sequenceOffsets } = batch;
  const numSequences = sequenceOffsets.length - 1;
  const episodeOf = episodeOfSequence(batch);
  const { lossMask, weights } = rejected(columns, recipe.loss.rolloutCorrection?.denominator ?? 'all');
  const atTokens = (values: Float32Array | null | undefined) =>
    values && scatter(values, batch.actionTokens, batch.tokenIds.length);
  const lists: Readonly<Record<string, Uint8Array | Int32Array | Float32Array | null | undefined>> = {
    token_ids: batch.tokenIds,
    policy_versions: batch.policyVersions,
    action_mask: batch.actionMask,
    loss_mask: maskOfTokens(batch, lossMask),
    behavior_logprobs: batch.behaviorLogprobs,
    old_logprobs: atTokens(columns.proximalLogprobs),
    advantages: atTokens(columns.advantages),
    token_rewards: atTokens(rewardsWithKl.rewards),
    token_scores: rewardsWithKl.kls && atTokens(scored.rewards),
    importance_weights: atTokens(weights),
    reference_logprobs: atTokens(columns.referenceLogprobs),
    returns: atTokens(columns.returns),
    values: recipe.loss.valueCoefficient > 0 ? atTokens(proximal.values) : null,
  };
  const ofEpisode = (texts: readonly string[]) => textColumn(Array.from(episodeOf, (e) => texts[e]));
  const runIds = episodesByRun(plan, runId).flatMap((part) => part.episodeIds.map(() => part.runId));
  // Of episodes of other runs no versions are read, so that they have another digest than in their own run.
  const digests = runIds.every((id) => id === runId) ? episodeDigests(episodes) : null;
  const rows: NamedColumns = [
    ['run_id', ofEpisode(runIds)],
    ['episode_id', ofEpisode(episodes.episodeIds)],
    ['group_id', ofEpisode(episodes.groupIds)],
    ...(digests ? [['episode_digest', ofEpisode(digests)] as const] : []),
    ['sequence', numberColumn(placeInEpisode(batch.episodeSequenceOffsets, numSequences))],
    ['copies', numberColumn(columns.sequenceCopies ?? new Int32Array(numSequences).fill(1))],
    ['reward', numberColumn(Float64Array.from(episodeOf, (e) => scored.totals[e]))],
    ...Object.entries(lists).flatMap(([name, values]) =>
      values ? [[name, listColumn(values, sequenceOffsets)] as const] : [],
    ),
  ];
  const said = {
    ...{ runId, updateNumber: plan.updateNumber, policyVersionIn: plan.policyVersionIn, rewardVersion },
    ...{ estimator: recipe.advantage.estimator, policyLoss: recipe.loss.policyLoss },
    ...{ aggregation: recipe.loss.aggregation, temperature: recipe.collection.temperature },
    ...{ numEpisodes: episodes.episodeIds.length, numTokens: batch.tokenIds.length },
  };
  return encodeRows(rows, numSequences, new Map([[METADATA_KEY, JSON.stringify(said)]]));
}

/**
 * [A] Tokens that a correction rejected: out of the loss with its denominators, or with weight 0 in it.
 *
 * @param denominator as in `loss.rolloutCorrection`
 */
function rejected(
  { trainedMask, keptMask, importanceWeights = null }: UpdateColumns,
  denominator: 'all' | 'kept',
): { readonly lossMask: Uint8Array; readonly weights: Float32Array | null } {
  if (keptMask === null) return { lossMask: trainedMask, weights: importanceWeights };
  if (denominator === 'kept')
    return { lossMask: trainedMask.map((bit, a) => bit & keptMask[a]), weights: importanceWeights };
  const weights = importanceWeights ?? new Float32Array(trainedMask.length).fill(1);
  return { lossMask: trainedMask, weights: weights.map((weight, a) => weight * keptMask[a]) };
}

/** [S] The place of each sequence among those of its episode. */
function placeInEpisode(episodeSequenceOffsets: Int32Array, numSequences: number): Int32Array {
  const places = new Int32Array(numSequences);
  for (let e = 0; e + 1 < episodeSequenceOffsets.length; e++)
    for (let s = episodeSequenceOffsets[e]; s < episodeSequenceOffsets[e + 1]; s++)
      places[s] = s - episodeSequenceOffsets[e];
  return places;
}
