import type { AnyEvent, RunEnded } from '@retrace/trajectory';

/** Figures of a run at its end, for people and for `--json`. */
export interface RunSummary {
  readonly runId: string;
  readonly reason: RunEnded['reason'];
  readonly detail: string;
  readonly numUpdates: number;
  readonly policyVersion: number;
  readonly weightsSha256: string;
  /** Newest value of each metric that was logged. */
  readonly metrics: Readonly<Record<string, number>>;
}

/** What a run has come to, folded from its control events. */
export class RunProgress {
  numUpdates = 0;
  policyVersion = -1;
  private weightsSha256 = '';
  private readonly metrics = new Map<string, number>();
  private ended: RunEnded | null = null;

  constructor(
    readonly runId: string,
    private readonly numUpdatesPlanned: number,
  ) {}

  get hasEnded(): boolean {
    return this.ended !== null;
  }

  /** Takes the run's events in log order and ignores those of other runs. Returns what a person should read about it, or null. */
  add(event: AnyEvent): string | null {
    if (event.runId !== this.runId) return null;
    switch (event.kind) {
      case 'UpdateApplied':
        this.numUpdates = event.payload.updateNumber;
        return null;
      case 'PolicyPublished':
        this.policyVersion = event.payload.policyVersion;
        this.weightsSha256 = event.payload.weights.sha256;
        return null;
      case 'MetricsLogged':
        return this.addMetrics(event.payload.source, event.payload.names, event.payload.values);
      case 'RunEnded':
        this.ended = event.payload;
        return `run ended: ${event.payload.reason}${event.payload.detail === '' ? '' : `, ${event.payload.detail}`}`;
      default:
        return null;
    }
  }

  summary(): RunSummary {
    return {
      runId: this.runId,
      reason: this.ended?.reason ?? 'stopped',
      detail: this.ended?.detail ?? '',
      numUpdates: this.numUpdates,
      policyVersion: this.policyVersion,
      weightsSha256: this.weightsSha256,
      metrics: Object.fromEntries([...this.metrics].sort(([a], [b]) => (a < b ? -1 : 1))),
    };
  }

  private addMetrics(source: string, names: readonly string[], values: Float64Array): string | null {
    names.forEach((name, i) => {
      if (Number.isFinite(values[i])) this.metrics.set(name, values[i]);
    });
    if (source === 'evaluation') {
      return names.map((name, i) => `${name} ${formatFigure(values[i])}`).join(' · ');
    }
    if (source !== 'trainer') return null;
    const shown = ['rollout/success', 'train/entropy', 'train/kl', 'train/tokensPerSecond']
      .filter((name) => this.metrics.has(name))
      .map(
        (name) =>
          `${name.slice(name.indexOf('/') + 1)} ${formatFigure(this.metrics.get(name) ?? Number.NaN)}`,
      );
    return [`update ${String(this.numUpdates)}/${String(this.numUpdatesPlanned)}`, ...shown].join(' · ');
  }
}

/** Three significant digits; thousands without decimals. */
export function formatFigure(value: number): string {
  if (!Number.isFinite(value)) return '–';
  return Math.abs(value) >= 1000
    ? Math.round(value).toLocaleString('en')
    : String(Number(value.toPrecision(3)));
}
