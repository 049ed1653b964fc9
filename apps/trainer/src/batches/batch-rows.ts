import { encodeRows, listColumn, numberColumn, textColumn, type NamedColumns } from '../arrow/arrow-rows.js';
import { episodeOfSequence, scatter } from '../update/token-columns.js';
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
 * | `episode_id`, `group_id` | text | |
 * | `sequence` | int32 | counted within the episode, which has several where its prompts dropped tokens |
 * | `copies` | int32 | how often the sequence is to be trained: 1 but for resampling |
 * | `reward` | float64 | total of the episode; NaN where it is missing |
 * | `token_ids`, `policy_versions` | list<int32> | |
 * | `action_mask` | list<uint8> | 1 = sampled by the policy |
 * | `loss_mask` | list<uint8> | 1 = counts in the loss |
 * | `behavior_logprobs` | list<float32> | nats, as they were recorded when the token was sampled |
 * | `old_logprobs` | list<float32> | of the policy that the ratio of the loss is to: the update's first one, or the one that sampled |
 * | `advantages`, `token_rewards` | list<float32> | |
 * | `importance_weights` | list<float32> | of the corrections and of the sampler |
 * | `reference_logprobs`, `returns`, `values` | list<float32> | |
 */
export function batchRows({ inputs, prepared }: MadeBatch): Uint8Array {
  const { plan, columns: episodes, recipe } = inputs;
  const { read, scored, charged, columns, proximal } = prepared;
  const { batch } = read;
  const { sequenceOffsets } = batch;
  const numSequences = sequenceOffsets.length - 1;
  const episodeOf = episodeOfSequence(batch);
  const counted = columns.keptMask
    ? columns.trainedMask.map((bit, n) => bit & (columns.keptMask?.[n] ?? 1))
    : columns.trainedMask;
  const lists: Readonly<Record<string, Uint8Array | Int32Array | Float32Array | null | undefined>> = {
    token_ids: batch.tokenIds,
    policy_versions: batch.policyVersions,
    action_mask: batch.actionMask,
    loss_mask: counted,
    behavior_logprobs: batch.behaviorLogprobs,
    old_logprobs: columns.proximalLogprobs,
    advantages: columns.advantages,
    token_rewards: scatter(charged.rewards, batch.actionTokens, batch.tokenIds.length),
    importance_weights: columns.importanceWeights,
    reference_logprobs: columns.referenceLogprobs,
    returns: columns.returns,
    values: proximal.values,
  };
  const rows: NamedColumns = [
    ['episode_id', textColumn(Array.from(episodeOf, (e) => episodes.episodeIds[e]))],
    ['group_id', textColumn(Array.from(episodeOf, (e) => episodes.groupIds[e]))],
    ['sequence', numberColumn(placeInEpisode(batch.episodeSequenceOffsets, numSequences))],
    ['copies', numberColumn(columns.sequenceCopies ?? new Int32Array(numSequences).fill(1))],
    ['reward', numberColumn(Float64Array.from(episodeOf, (e) => scored.totals[e]))],
    ...Object.entries(lists).flatMap(([name, values]) =>
      values ? [[name, listColumn(values, sequenceOffsets)] as const] : [],
    ),
  ];
  const said = {
    ...{ updateNumber: plan.updateNumber, policyVersionIn: plan.policyVersionIn },
    ...{ estimator: recipe.advantage.estimator, policyLoss: recipe.loss.policyLoss },
    ...{ aggregation: recipe.loss.aggregation, temperature: recipe.collection.temperature },
    ...{ numEpisodes: episodes.episodeIds.length, numTokens: batch.tokenIds.length },
  };
  return encodeRows(rows, numSequences, new Map([[METADATA_KEY, JSON.stringify(said)]]));
}

/** [S] The place of each sequence among those of its episode. */
function placeInEpisode(episodeSequenceOffsets: Int32Array, numSequences: number): Int32Array {
  const places = new Int32Array(numSequences);
  for (let e = 0; e + 1 < episodeSequenceOffsets.length; e++)
    for (let s = episodeSequenceOffsets[e]; s < episodeSequenceOffsets[e + 1]; s++)
      places[s] = s - episodeSequenceOffsets[e];
  return places;
}
