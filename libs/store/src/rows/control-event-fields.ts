import type {
  AlarmAcknowledged,
  AlarmSilenced,
  BaselinesMeasured,
  BatchPlanned,
  CollectorClaimed,
  DatasetCreated,
  DatasetEpisodesListed,
  EpisodesDeleted,
  GroupsClosed,
  GroupsDiscarded,
  Json,
  LogOpened,
  MetricsLogged,
  NotebookDeleted,
  NotebookSaved,
  PolicyPublished,
  PolicyValidated,
  RetentionApplied,
  RunAnnotated,
  RunDeleted,
  RunEnded,
  RunStarted,
  SamplingBlocked,
  TrainerClaimed,
  UpdateApplied,
  UpdateTraced,
  UsedEngine,
  WarningRaised,
} from '@retrace/trajectory';
import {
  type ControlFields,
  float64s,
  inColumns,
  inColumnsAndJson,
  type JsonField,
  number,
  text,
  texts,
} from './event-fields.js';
import { updateTokensField } from './update-tokens-field.js';

const integers: JsonField<Int32Array> = {
  toJson: (values) => [...values],
  fromJson: (json) => Int32Array.from(json as number[]),
};

/** Leaves null out, as rows of schema versions without the field do. */
const integersOrNull: JsonField<Int32Array | null> = {
  toJson: (values) => (values === null ? undefined : [...values]),
  fromJson: (json) => (json === undefined || json === null ? null : Int32Array.from(json as number[])),
};

/** JSON has no NaN. */
const doublesOrNull: JsonField<Float64Array | null> = {
  toJson: (values) => values && Array.from(values, (reward) => (Number.isNaN(reward) ? null : reward)),
  fromJson(json) {
    const values = (json ?? null) as readonly (number | null)[] | null;
    return values && Float64Array.from(values, (reward) => reward ?? NaN);
  },
};

/** JSON has no NaN, and float32 needs fewer digits than the same number as a double. */
const float32Numbers: JsonField<Float32Array> = {
  toJson: (values) => Array.from(values, (value) => (Number.isNaN(value) ? null : shortestOf(value))),
  fromJson: (json) => Float32Array.from(json as readonly (number | null)[], (value) => value ?? NaN),
};

/** The number with the fewest digits, six or more, that is this float32. */
function shortestOf(value: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const rounded = Number(value.toPrecision(digits));
    if (Math.fround(rounded) === value) return rounded;
  }
  return Number(value.toPrecision(9));
}

/** JSON has no NaN. */
const numbers: JsonField<Float64Array> = {
  toJson: (values) => Array.from(values, (value) => (Number.isNaN(value) ? null : value)),
  fromJson: (json) => Float64Array.from(json as readonly (number | null)[], (value) => value ?? NaN),
};

/** Leaves null out, too. */
const presentDoubles: JsonField<Float64Array | null> = {
  toJson: (values) => (values === null ? undefined : doublesOrNull.toJson(values)),
  fromJson: doublesOrNull.fromJson,
};

/** Leaves an empty list out, as rows of schema versions without the field do. */
const presentTexts: JsonField<readonly string[]> = {
  toJson: (list) => (list.length === 0 ? undefined : list),
  fromJson: (json) => (json ?? []) as readonly string[],
};

/** Leaves it out where it is null, as rows of schema versions without the field do. */
const presentEngine: JsonField<UsedEngine | null> = {
  toJson: (engine) => (engine === null ? undefined : { ...engine }),
  fromJson: (json) => (json ?? null) as UsedEngine | null,
};

/** Leaves a field out where it has this value, as rows of schema versions without the field do. */
const unless = <T extends Json>(value: T): JsonField<T> => ({
  toJson: (json) => (json === value ? undefined : json),
  fromJson: (json) => (json ?? value) as T,
});

export const controlEventFields: ControlFields = {
  LogOpened: inColumnsAndJson<LogOpened>({}),

  RunStarted: inColumnsAndJson<RunStarted>(
    { environment: text('environment') },
    {
      runKind: unless('trained'),
      tags: presentTexts,
      metadata: unless(null),
    },
  ),

  RunEnded: inColumnsAndJson<RunEnded>({ reason: text('end_reason') }),

  GroupsClosed: inColumnsAndJson<GroupsClosed>(
    { split: text('split'), reason: text('end_reason') },
    {
      groupSizes: integers,
      memberOffsets: integers,
      numSteps: integers,
      policyVersionMin: integers,
      policyVersionMax: integers,
    },
  ),

  GroupsDiscarded: inColumnsAndJson<GroupsDiscarded>({
    reason: text('end_reason'),
    updateNumber: number('update_number'),
  }),

  SamplingBlocked: inColumnsAndJson<SamplingBlocked>({}),

  BatchPlanned: inColumnsAndJson<BatchPlanned>(
    {
      planId: text('plan_id'),
      epoch: number('epoch'),
      updateNumber: number('update_number'),
      policyVersionIn: number('policy_version'),
    },
    {
      numSteps: integers,
      runIds: presentTexts,
      groupRuns: integersOrNull,
      groupSources: integersOrNull,
      groupRows: integersOrNull,
      episodeGroups: integersOrNull,
      groupWeights: presentDoubles,
    },
  ),

  UpdateApplied: inColumnsAndJson<UpdateApplied>(
    {
      planId: text('plan_id'),
      epoch: number('epoch'),
      updateNumber: number('update_number'),
      policyVersionOut: number('policy_version'),
      metricNames: texts('metric_names'),
      metricValues: float64s('metric_values'),
    },
    { episodeRewards: doublesOrNull, groupPriorities: presentDoubles, engine: presentEngine },
  ),

  UpdateTraced: inColumnsAndJson<UpdateTraced>(
    {
      planId: text('plan_id'),
      epoch: number('epoch'),
      updateNumber: number('update_number'),
      policyVersionIn: number('policy_version'),
    },
    {
      episodeRuns: integers,
      episodeGroups: integers,
      firstSteps: integers,
      numSteps: integers,
      episodeDigests: presentTexts,
      times: integers,
      numTokens: integers,
      weights: float32Numbers,
      advantageMeans: float32Numbers,
      advantageDeviations: float32Numbers,
      advantageMins: float32Numbers,
      advantageMaxs: float32Numbers,
      stepLosses: numbers,
      stepGradientNorms: numbers,
    },
  ),

  UpdateTokensTraced: updateTokensField,

  PolicyPublished: inColumnsAndJson<PolicyPublished>(
    {
      policyVersion: number('policy_version'),
      updateNumber: number('update_number'),
      epoch: number('epoch'),
    },
    { location: unless('') },
  ),

  PolicyValidated: inColumnsAndJson<PolicyValidated>({
    policyVersion: number('policy_version'),
    updateNumber: number('update_number'),
    split: text('split'),
  }),

  TrainerClaimed: inColumnsAndJson<TrainerClaimed>({ epoch: number('epoch') }),

  CollectorClaimed: inColumnsAndJson<CollectorClaimed>({ split: text('split') }, { places: integers }),

  MetricsLogged: inColumns<MetricsLogged>({
    source: text('source'),
    step: number('metric_step'),
    names: texts('metric_names'),
    values: float64s('metric_values'),
  }),

  BaselinesMeasured: inColumnsAndJson<BaselinesMeasured>({}),

  WarningRaised: inColumnsAndJson<WarningRaised>({ source: text('source') }),

  AlarmAcknowledged: inColumnsAndJson<AlarmAcknowledged>({}),

  AlarmSilenced: inColumnsAndJson<AlarmSilenced>({}),

  RetentionApplied: inColumnsAndJson<RetentionApplied>({}),

  RunDeleted: inColumnsAndJson<RunDeleted>({}),

  RunAnnotated: inColumnsAndJson<RunAnnotated>({}),

  EpisodesDeleted: inColumnsAndJson<EpisodesDeleted>({}),

  DatasetEpisodesListed: inColumnsAndJson<DatasetEpisodesListed>({}),

  DatasetCreated: inColumnsAndJson<DatasetCreated>({}),

  NotebookSaved: inColumnsAndJson<NotebookSaved>({}),

  NotebookDeleted: inColumnsAndJson<NotebookDeleted>({}),
};
