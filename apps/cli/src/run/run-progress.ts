import type { AnyEvent, RunEnded, RunState } from '@retrace/trajectory';

/** Figures of a run at its end. */
export interface RunSummary {
  readonly runId: string;
  readonly reason: RunEnded['reason'];
  readonly detail: string;
  readonly numUpdates: number;
  /** Updates that learned from at least one token. */
  readonly numLearningUpdates: number;
  readonly policyVersion: number | null;
  readonly weightsSha256: string | null;
  /** Newest value of each metric, by name. */
  readonly metrics: Readonly<Record<string, number>>;
}

const SHOWN_WITH_UPDATES = ['train/entropy', 'train/approximateKl', 'train/tokensPerSecond'];

/** Describes an event that was just folded into the state of its run, in one log line; null for most events. */
export function describeProgress(event: AnyEvent, run: RunState): string | null {
  switch (event.kind) {
    case 'MetricsLogged':
      return describeMetrics(event.payload, run);
    case 'RunEnded':
      return `run ended: ${event.payload.reason}${event.payload.detail === '' ? '' : `, ${event.payload.detail}`}`;
    default:
      return null;
  }
}

export function summarizeRun(run: RunState): RunSummary {
  const metrics = run.metrics
    .filter(({ value }) => Number.isFinite(value))
    .map(({ name, value }): [string, number] => [name, value])
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    runId: run.runId,
    reason: run.ended?.reason ?? 'stopped',
    detail: run.ended?.detail ?? '',
    numUpdates: run.updates.numUpdates,
    numLearningUpdates: run.updates.numLearningUpdates,
    policyVersion: run.policies.latest?.policyVersion ?? null,
    weightsSha256: run.policies.latest?.weights.sha256 ?? null,
    metrics: Object.fromEntries(metrics),
  };
}

/** Says so where updates were made and none of them learned anything; null otherwise. */
export function describeNothingLearned({
  runId,
  updates,
}: {
  readonly runId: string;
  readonly updates: Pick<RunState['updates'], 'numUpdates' | 'numLearningUpdates'>;
}): string | null {
  const { numUpdates, numLearningUpdates } = updates;
  if (numUpdates === 0 || numLearningUpdates > 0) return null;
  return (
    `run ${runId}: none of its ${numUpdates} updates learned anything, so its policy is not a trained one; ` +
    `retrace sql "SELECT step, message FROM warnings WHERE run_id = '${runId}'" says why`
  );
}

/** Formats a figure with three significant digits; thousands without decimals. */
export function formatFigure(value: number): string {
  if (!Number.isFinite(value)) return '–';
  return Math.abs(value) >= 1000
    ? Math.round(value).toLocaleString('en')
    : String(Number(value.toPrecision(3)));
}

function describeMetrics(
  {
    source,
    step,
    names,
    values,
  }: { source: string; step: number; names: readonly string[]; values: Float64Array },
  run: RunState,
): string | null {
  if (source === 'evaluation') {
    const figures = names.map((name, i) => `${name} ${formatFigure(values[i])}`).join(' · ');
    return `policy ${step} · ${figures}`;
  }
  if (source !== 'trainer') return null;
  const success = run.metric('collector', 'rollout/success')?.value;
  const figures = SHOWN_WITH_UPDATES.flatMap((name) => {
    const at = names.indexOf(name);
    return at < 0 ? [] : [`${name.slice(name.indexOf('/') + 1)} ${formatFigure(values[at])}`];
  });
  if (success !== undefined) figures.unshift(`success ${formatFigure(success)}`);
  return [`update ${step}`, ...figures].join(' · ');
}
