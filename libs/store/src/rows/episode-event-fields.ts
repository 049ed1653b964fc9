import type { EpisodeEnded, EpisodeStarted, Json, RewardAssigned, StepRecorded } from '@retrace/trajectory';
import {
  type EpisodeFields,
  flag,
  float32s,
  float64s,
  inColumns,
  inColumnsAndJson,
  int32s,
  type JsonField,
  nullableFlag,
  nullableFloat32s,
  nullableNumber,
  nullableText,
  number,
  type RowField,
  text,
  texts,
  uint8s,
} from './event-fields.js';

type Sampling = NonNullable<StepRecorded['sampling']>;

const samplingColumns = inColumns<Sampling>({
  temperature: nullableNumber('temperature') as RowField<number>,
  topK: number('top_k'),
  topP: number('top_p'),
  greedy: flag('greedy'),
  maxNewTokens: number('max_new_tokens'),
});

/** Null exactly where the temperature is. */
const sampling: RowField<Sampling | null> = {
  write(columns, row, value) {
    if (value !== null) samplingColumns.write(columns, row, value);
  },
  read: (row) => (row.nullableNumber('temperature') === null ? null : samplingColumns.read(row)),
};

const info: RowField<Json> = {
  write: (columns, row, value) => columns.payload.set(row, JSON.stringify(value)),
  read: (row) => row.rest(),
};

/** Listed only for its place in the text. */
const plain: JsonField<never> = { toJson: (value) => value, fromJson: (json) => json as never };

/** The number of a step, which column `seq` tells. */
const step: RowField<number> = { write: () => undefined, read: (row) => row.number('seq') - 1 };

/** The final observation of `EpisodeEnded` is stored in the columns of a step's observation, so that one query reads both. */
export const episodeEventFields: EpisodeFields = {
  EpisodeStarted: inColumnsAndJson<EpisodeStarted>(
    {
      groupId: text('group_id'),
      groupSize: number('group_size'),
      groupMember: number('group_member'),
      environment: text('environment'),
      environmentSeed: number('environment_seed'),
      samplingSeed: number('sampling_seed'),
      split: text('split'),
      agent: text('agent'),
    },
    { task: plain, forkedFrom: plain },
  ),

  StepRecorded: inColumns<StepRecorded>({
    step,
    observation: text('observation'),
    action: text('action'),
    parsedAction: nullableText('parsed_action'),
    actionValid: flag('action_valid'),
    anchor: nullableText('anchor'),
    reward: nullableNumber('reward'),
    rewardNames: texts('reward_names'),
    rewardValues: float64s('reward_values'),
    terminated: flag('terminated'),
    truncated: flag('truncated'),
    info,
    keptPrefixTokens: number('kept_prefix_tokens'),
    sampling,
    engine: text('engine'),
    model: text('model'),
    tokenizerHash: text('tokenizer_hash'),
    logprobMode: text('logprob_mode'),
    generationMs: number('generation_ms'),
    environmentMs: number('environment_ms'),
    snapshot: nullableText('snapshot'),
    tokenIds: int32s('token_ids'),
    actionMask: uint8s('action_mask'),
    tokenLogprobs: float32s('token_logprobs'),
    tokenRawLogprobs: nullableFloat32s('token_raw_logprobs', 'has_raw_logprobs'),
    tokenEntropies: nullableFloat32s('token_entropies', 'has_entropies'),
    tokenPolicyVersions: int32s('token_policy_versions'),
  }),

  EpisodeEnded: inColumnsAndJson<EpisodeEnded>({
    endReason: text('end_reason'),
    finalObservation: text('observation'),
    finalTokenIds: int32s('token_ids'),
    finalKeptPrefixTokens: number('kept_prefix_tokens'),
    numSteps: number('num_steps'),
    return: nullableNumber('return'),
    success: nullableFlag('success'),
    numTokens: number('num_tokens'),
    numActionTokens: number('num_action_tokens'),
    policyVersionMin: number('policy_version_min'),
    policyVersionMax: number('policy_version_max'),
  }),

  RewardAssigned: inColumnsAndJson<RewardAssigned>({
    step: nullableNumber('reward_step'),
    name: text('reward_name'),
    value: nullableNumber('reward'),
    source: text('source'),
  }),
};
