import type {
  BatchPlanned,
  CollectorClaimed,
  GroupsClosed,
  Json,
  LogOpened,
  MetricsLogged,
  PolicyPublished,
  RetentionApplied,
  RunDeleted,
  RunEnded,
  RunStarted,
  Split,
  TrainerClaimed,
  UpdateApplied,
} from '@retrace/trajectory';
import { type ControlFields, writeRest } from './event-fields.js';

/** Kinds without typed columns keep their whole payload as JSON. */
export const controlEventFields: ControlFields = {
  LogOpened: {
    write: (columns, row, payload) => writeRest(columns, row, asJson(payload)),
    read: (row) => row.rest() as unknown as LogOpened,
  },

  RunStarted: {
    write(columns, row, { environment, ...rest }) {
      columns.environment.set(row, environment);
      writeRest(columns, row, asJson(rest));
    },
    read(row) {
      const rest = row.rest() as unknown as Omit<RunStarted, 'environment'>;
      return { ...rest, environment: row.text('environment') };
    },
  },

  RunEnded: {
    write(columns, row, { reason, ...rest }) {
      columns.end_reason.set(row, reason);
      writeRest(columns, row, rest);
    },
    read(row) {
      const rest = row.rest() as unknown as Omit<RunEnded, 'reason'>;
      return { ...rest, reason: row.text('end_reason') as RunEnded['reason'] };
    },
  },

  GroupsClosed: {
    write(columns, row, payload) {
      const {
        split,
        reason,
        groupSizes,
        memberOffsets,
        numSteps,
        policyVersionMin,
        policyVersionMax,
        ...rest
      } = payload;
      columns.split.set(row, split);
      columns.end_reason.set(row, reason);
      writeRest(columns, row, {
        ...rest,
        groupSizes: [...groupSizes],
        memberOffsets: [...memberOffsets],
        numSteps: [...numSteps],
        policyVersionMin: [...policyVersionMin],
        policyVersionMax: [...policyVersionMax],
      });
    },
    read(row) {
      const rest = row.rest() as unknown as GroupsClosed;
      return {
        ...rest,
        split: row.text('split') as Split,
        reason: row.text('end_reason') as GroupsClosed['reason'],
        groupSizes: Int32Array.from(rest.groupSizes),
        memberOffsets: Int32Array.from(rest.memberOffsets),
        numSteps: Int32Array.from(rest.numSteps),
        policyVersionMin: Int32Array.from(rest.policyVersionMin),
        policyVersionMax: Int32Array.from(rest.policyVersionMax),
      };
    },
  },

  BatchPlanned: {
    write(columns, row, payload) {
      const { planId, epoch, updateNumber, policyVersionIn, numSteps, ...rest } = payload;
      columns.plan_id.set(row, planId);
      columns.epoch.set(row, epoch);
      columns.update_number.set(row, updateNumber);
      columns.policy_version.set(row, policyVersionIn);
      writeRest(columns, row, { ...rest, numSteps: [...numSteps] });
    },
    read(row) {
      const rest = row.rest() as unknown as BatchPlanned;
      return {
        ...rest,
        planId: row.text('plan_id'),
        epoch: row.number('epoch'),
        updateNumber: row.number('update_number'),
        policyVersionIn: row.number('policy_version'),
        numSteps: Int32Array.from(rest.numSteps),
      };
    },
  },

  UpdateApplied: {
    write(columns, row, payload) {
      const {
        planId,
        epoch,
        updateNumber,
        policyVersionOut,
        metricNames,
        metricValues,
        episodeRewards,
        ...rest
      } = payload;
      columns.plan_id.set(row, planId);
      columns.epoch.set(row, epoch);
      columns.update_number.set(row, updateNumber);
      columns.policy_version.set(row, policyVersionOut);
      columns.metric_names.set(row, metricNames);
      columns.metric_values.set(row, metricValues);
      // JSON has no NaN.
      const rewards =
        episodeRewards && Array.from(episodeRewards, (reward) => (Number.isNaN(reward) ? null : reward));
      writeRest(columns, row, asJson({ ...rest, episodeRewards: rewards }));
    },
    read(row) {
      const { episodeRewards = null, ...rest } = row.rest() as unknown as Pick<
        UpdateApplied,
        'weights' | 'optimizer' | 'trainerState'
      > & { readonly episodeRewards?: readonly (number | null)[] | null };
      return {
        ...rest,
        episodeRewards: episodeRewards && Float64Array.from(episodeRewards, (reward) => reward ?? NaN),
        planId: row.text('plan_id'),
        epoch: row.number('epoch'),
        updateNumber: row.number('update_number'),
        policyVersionOut: row.number('policy_version'),
        metricNames: row.texts('metric_names'),
        metricValues: row.float64s('metric_values'),
      };
    },
  },

  PolicyPublished: {
    write(columns, row, { policyVersion, updateNumber, epoch, ...rest }) {
      columns.policy_version.set(row, policyVersion);
      columns.update_number.set(row, updateNumber);
      columns.epoch.set(row, epoch);
      writeRest(columns, row, asJson(rest));
    },
    read(row) {
      const rest = row.rest() as unknown as Pick<PolicyPublished, 'parentVersion' | 'weights' | 'modelHash'>;
      return {
        ...rest,
        policyVersion: row.number('policy_version'),
        updateNumber: row.number('update_number'),
        epoch: row.number('epoch'),
      };
    },
  },

  TrainerClaimed: {
    write(columns, row, { epoch, trainerId }) {
      columns.epoch.set(row, epoch);
      writeRest(columns, row, { trainerId });
    },
    read(row) {
      const { trainerId } = row.rest() as unknown as TrainerClaimed;
      return { epoch: row.number('epoch'), trainerId };
    },
  },

  CollectorClaimed: {
    write(columns, row, { split, places, ...rest }) {
      columns.split.set(row, split);
      writeRest(columns, row, { ...rest, places: [...places] });
    },
    read(row) {
      const rest = row.rest() as unknown as CollectorClaimed;
      return { ...rest, split: row.text('split') as Split, places: Int32Array.from(rest.places) };
    },
  },

  MetricsLogged: {
    write(columns, row, { source, step, names, values }) {
      columns.source.set(row, source);
      columns.metric_step.set(row, step);
      columns.metric_names.set(row, names);
      columns.metric_values.set(row, values);
    },
    read: (row) => ({
      source: row.text('source') as MetricsLogged['source'],
      step: row.number('metric_step'),
      names: row.texts('metric_names'),
      values: row.float64s('metric_values'),
    }),
  },

  RetentionApplied: {
    write: (columns, row, payload) => writeRest(columns, row, asJson(payload)),
    read: (row) => row.rest() as unknown as RetentionApplied,
  },

  RunDeleted: {
    write: (columns, row, payload) => writeRest(columns, row, asJson(payload)),
    read: (row) => row.rest() as unknown as RunDeleted,
  },
};

/** Payloads are JSON once their typed arrays are out; their interfaces don't say so. */
function asJson(payload: object): Json {
  return payload as Json;
}
