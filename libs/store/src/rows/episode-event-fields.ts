import type {
  EpisodeAnnotated,
  EpisodeEnded,
  EpisodeStarted,
  Json,
  RewardAssigned,
  StepRecorded,
  Usage,
} from '@retrace/trajectory';
import {
  type EpisodeFields,
  flag,
  flagOrUnknown,
  float64s,
  inColumns,
  inColumnsAndJson,
  int32s,
  type JsonField,
  nullableFlag,
  nullableNumber,
  nullableText,
  number,
  numberOrUnknown,
  rareId,
  rareJson,
  rareText,
  type RowField,
  text,
  texts,
} from './event-fields.js';
import { tokenColumnFields } from './token-column-fields.js';

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

/** The places of the fields in the list that the column holds. */
const USAGE_FIELDS = [
  'inputTokens',
  'cachedInputTokens',
  'outputTokens',
  'reasoningTokens',
  'costUsd',
] as const satisfies readonly (keyof Usage)[];

/** A list with NaN for what is unknown; empty for null. */
export const usageField: RowField<Usage | null> = {
  write(columns, row, value) {
    if (value !== null)
      columns.usage.set(
        row,
        Float64Array.from(USAGE_FIELDS, (name) => value[name] ?? NaN),
      );
  },
  read(row) {
    const values = row.float64s('usage');
    if (values.length === 0) return null;
    const read = USAGE_FIELDS.map((name, i) => [name, Number.isNaN(values[i]) ? null : values[i]]);
    return Object.fromEntries(read) as Usage;
  },
};

/** Listed only for its place in the text. */
const plain: JsonField<never> = { toJson: (value) => value, fromJson: (json) => json as never };

/** JSON in column `payload`, because column `tags` could not tell none from unchanged. */
const annotatedTags: RowField<readonly string[] | null> = {
  write: (columns, row, value) => columns.payload.set(row, JSON.stringify(value)),
  read: (row) => row.rest<Json>() as readonly string[] | null,
};

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
      environmentSeed: numberOrUnknown('environment_seed', -1),
      samplingSeed: numberOrUnknown('sampling_seed', -1),
      split: text('split'),
      agent: text('agent'),
      externalId: rareText('external_id'),
      tags: texts('tags'),
      metadata: rareJson('metadata'),
      parentEpisodeId: rareId('parent_episode_id'),
      forkedFromRunId: rareId('forked_from_run_id'),
    },
    { task: plain, forkedFrom: plain },
  ),

  StepRecorded: inColumns<StepRecorded>({
    step,
    observation: text('observation'),
    action: text('action'),
    parsedAction: nullableText('parsed_action'),
    actionValid: flagOrUnknown('action_valid', 'action_valid_unknown'),
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
    generationMs: numberOrUnknown('generation_ms', NaN),
    environmentMs: numberOrUnknown('environment_ms', NaN),
    snapshot: nullableText('snapshot'),
    messages: rareJson('messages'),
    usage: usageField,
    untrainable: text('untrainable'),
    ...tokenColumnFields,
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

  EpisodeAnnotated: inColumns<EpisodeAnnotated>({
    tags: annotatedTags,
    metadata: rareJson('metadata'),
    source: text('source'),
  }),
};
