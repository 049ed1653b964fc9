import type {
  BaselinesMeasured,
  BatchPlanned,
  CollectorClaimed,
  DatasetCreated,
  DatasetEpisodesListed,
  EpisodesDeleted,
  GroupsClosed,
  Json,
  LogOpened,
  MetricsLogged,
  PolicyPublished,
  RetentionApplied,
  RunDeleted,
  RunEnded,
  RunStarted,
  TrainerClaimed,
  UpdateApplied,
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

const integers: JsonField<Int32Array> = {
  toJson: (values) => [...values],
  fromJson: (json) => Int32Array.from(json as number[]),
};

/** JSON has no NaN. */
const rewards: JsonField<Float64Array | null> = {
  toJson: (values) => values && Array.from(values, (reward) => (Number.isNaN(reward) ? null : reward)),
  fromJson(json) {
    const values = (json ?? null) as readonly (number | null)[] | null;
    return values && Float64Array.from(values, (reward) => reward ?? NaN);
  },
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
      tags: {
        toJson: (tags) => (tags.length === 0 ? undefined : tags),
        fromJson: (json) => (json ?? []) as [],
      },
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

  BatchPlanned: inColumnsAndJson<BatchPlanned>(
    {
      planId: text('plan_id'),
      epoch: number('epoch'),
      updateNumber: number('update_number'),
      policyVersionIn: number('policy_version'),
    },
    { numSteps: integers },
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
    { episodeRewards: rewards },
  ),

  PolicyPublished: inColumnsAndJson<PolicyPublished>({
    policyVersion: number('policy_version'),
    updateNumber: number('update_number'),
    epoch: number('epoch'),
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

  RetentionApplied: inColumnsAndJson<RetentionApplied>({}),

  RunDeleted: inColumnsAndJson<RunDeleted>({}),

  EpisodesDeleted: inColumnsAndJson<EpisodesDeleted>({}),

  DatasetEpisodesListed: inColumnsAndJson<DatasetEpisodesListed>({}),

  DatasetCreated: inColumnsAndJson<DatasetCreated>({}),
};
