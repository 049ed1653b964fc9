import type { ControlFold, RunState } from '@retrace/trajectory';
import type { StoreClient } from '../client/store-client.js';
import type { FaultList } from './fault-list.js';

interface RunRow {
  readonly run_id: string;
  readonly end_reason: string | null;
}

interface UpdatesRow {
  readonly run_id: string;
  readonly num_applied: number;
  readonly last_applied: number | null;
}

interface PolicyRow {
  readonly run_id: string;
  readonly policy_version: number;
  readonly weights_sha256: string;
}

const UPDATES = `
  SELECT run_id, countIf(applied_at IS NOT NULL) AS num_applied, maxOrNullIf(update_number, applied_at IS NOT NULL) AS last_applied
  FROM updates
  GROUP BY run_id`;

/** Compares the views of runs, updates and policies with the fold of the same control events. */
export async function verifyRuns(client: StoreClient, fold: ControlFold, faults: FaultList): Promise<void> {
  const runs = byRun(await client.queryRows<RunRow>('SELECT run_id, end_reason FROM runs'));
  const updates = byRun(await client.queryRows<UpdatesRow>(UPDATES));
  const policies = byRun(
    await client.queryRows<PolicyRow>('SELECT run_id, policy_version, weights_sha256 FROM policies'),
  );
  for (const run of fold.runs) {
    const { runId } = run;
    const differences = [
      ...compareEnd(run, runs.get(runId)?.[0]),
      ...compareUpdates(run, updates.get(runId)?.[0]),
      ...comparePolicies(run, policies.get(runId) ?? []),
    ];
    for (const difference of differences) faults.add('RUN_VIEW_DIFFERS', `run ${runId}`, difference);
  }
}

function compareEnd({ ended }: RunState, row: RunRow | undefined): string[] {
  if (row === undefined) return ['it is missing from the view runs'];
  const reason = ended?.reason ?? null;
  return row.end_reason === reason
    ? []
    : [`the view runs shows end_reason ${row.end_reason}; its events say ${reason}`];
}

function compareUpdates({ updates }: RunState, row: UpdatesRow | undefined): string[] {
  const shown = { numApplied: row?.num_applied ?? 0, lastApplied: row?.last_applied ?? null };
  const expected = { numApplied: updates.numUpdates, lastApplied: updates.lastUpdate?.updateNumber ?? null };
  if (shown.numApplied === expected.numApplied && shown.lastApplied === expected.lastApplied) return [];
  const say = ({ numApplied, lastApplied }: typeof shown): string =>
    `${numApplied} applied, the last ${lastApplied}`;
  return [`the view updates shows ${say(shown)}; its events say ${say(expected)}`];
}

function comparePolicies({ policies }: RunState, rows: readonly PolicyRow[]): string[] {
  const shown = new Map(rows.map((row) => [row.policy_version, row.weights_sha256]));
  const differences = [...policies.all()]
    .filter(({ policyVersion, weights }) => shown.get(policyVersion) !== weights.sha256)
    .map(
      ({ policyVersion }) =>
        `the view policies does not show version ${policyVersion} with the weights that its event names`,
    );
  const extra = shown.size - policies.numPolicies;
  return extra > 0
    ? [...differences, `the view policies shows ${extra} more versions than there are events`]
    : differences;
}

function byRun<Row extends { readonly run_id: string }>(rows: readonly Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) groups.set(row.run_id, [...(groups.get(row.run_id) ?? []), row]);
  return groups;
}
