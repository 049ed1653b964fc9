import { Float32, Float64, Int32, Utf8 } from '../arrow/apache-arrow.js';
import type { RetraceEvent } from '@retrace/trajectory';
import type { ColumnBuilder } from '../arrow/column-builder.js';
import { DictionaryColumn } from '../arrow/dictionary-columns.js';
import { encodeColumns, type EncodedColumns } from '../arrow/encode-columns.js';
import { NumberColumn } from '../arrow/fixed-width-columns.js';
import { BytesColumn } from '../arrow/ragged-columns.js';

/** The table of the rows that `update_inputs` shows. */
export const TRACED_INPUTS = 'traced_inputs';

const int32 = () => new NumberColumn(new Int32(), Int32Array);
const float32 = () => new NumberColumn(new Float32(), Float32Array);
// Sent as float64, which holds every integer that an event may carry; the engine converts them.
const integer = () => new NumberColumn(new Float64(), Float64Array);

/** The state of the log before an event `UpdateTraced` that decides about its rows. */
export interface TracingRules {
  /** Whether what a trainer of this epoch writes now is in force; otherwise the fold discards its commit. */
  holdsEpoch(runId: string, epoch: number): boolean;
  /** Whether the episode was deleted, so that no row may tell of it. */
  hasDeletedEpisode(runId: string, episodeId: string): boolean;
}

/** For rows among which there is no such event in force. */
export const NOTHING_TRACED: TracingRules = { holdsEpoch: () => false, hasDeletedEpisode: () => false };

/** A builder for every column of table `traced_inputs`, under the column's name. */
function newColumns() {
  let numDictionaries = 0;
  const label = () => new DictionaryColumn(numDictionaries++);
  return {
    run_id: label(),
    update_number: integer(),
    plan_id: label(),
    epoch: integer(),
    place: int32(),
    policy_version_in: integer(),
    episode_run_id: label(),
    episode_id: new BytesColumn(new Utf8()),
    group_id: label(),
    first_step: int32(),
    num_steps: int32(),
    times: int32(),
    num_tokens: int32(),
    weight: float32(),
    advantage_mean: float32(),
    advantage_deviation: float32(),
    advantage_min: float32(),
    advantage_max: float32(),
  };
}

/** Collects the rows of `traced_inputs` that events `UpdateTraced` stand for. */
export class TracedInputsEncoder {
  private readonly columns = newColumns();
  private numRows = 0;

  append(
    { runId, payload }: Pick<RetraceEvent<'UpdateTraced'>, 'runId' | 'payload'>,
    rules: TracingRules,
  ): void {
    if (!rules.holdsEpoch(runId, payload.epoch)) return;
    const { columns } = this;
    payload.episodeIds.forEach((episodeId, e) => {
      const episodeRunId = payload.runIds[payload.episodeRuns[e]];
      if (rules.hasDeletedEpisode(episodeRunId, episodeId)) return;
      const row = this.numRows++;
      columns.run_id.set(row, runId);
      columns.update_number.set(row, payload.updateNumber);
      columns.plan_id.set(row, payload.planId);
      columns.epoch.set(row, payload.epoch);
      columns.place.set(row, e);
      columns.policy_version_in.set(row, payload.policyVersionIn);
      columns.episode_run_id.set(row, episodeRunId);
      columns.episode_id.set(row, episodeId);
      columns.group_id.set(row, payload.groupIds[payload.episodeGroups[e]]);
      columns.first_step.set(row, payload.firstSteps[e]);
      columns.num_steps.set(row, payload.numSteps[e]);
      columns.times.set(row, payload.times[e]);
      columns.num_tokens.set(row, payload.numTokens[e]);
      columns.weight.set(row, payload.weights[e]);
      columns.advantage_mean.set(row, payload.advantageMeans[e]);
      columns.advantage_deviation.set(row, payload.advantageDeviations[e]);
      columns.advantage_min.set(row, payload.advantageMins[e]);
      columns.advantage_max.set(row, payload.advantageMaxs[e]);
    });
  }

  /** Null without a row. */
  finish(): EncodedColumns | null {
    const { columns, numRows } = this;
    return numRows === 0 ? null : encodeColumns(Object.entries<ColumnBuilder>(columns), numRows);
  }
}
