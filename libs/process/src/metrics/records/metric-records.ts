import { ControlFold, type AnyEvent, type MetricsLogged } from '@retrace/trajectory';
import type { MetricRecord, MetricRecordKind } from './metric-record.js';

type Values = MetricRecord['values'];

/**
 * Makes the records of one run from the control stream, read from its start. The same events give the same records in the same order, each
 * update and each evaluation once: an update counts by its commit, so what a trainer that lost its claim logged is left out, and where a policy
 * was evaluated twice the first counts.
 */
export class MetricRecords {
  private readonly fold = new ControlFold();
  private committedUpdate: number | null = null;
  private readonly seen = new Set<string>();
  /** Of the newest round of each collector, by name. */
  private readonly round = new Map<string, number>();

  constructor(private readonly runId: string) {}

  /** Offset of the next control record. */
  get nextOffset(): number {
    return this.fold.nextOffset;
  }

  /** Passes a record that can't be decoded. */
  skip(offset: number): void {
    this.fold.skip(offset);
  }

  /** Takes the next event; returns the record that it completes, or null. */
  take(event: AnyEvent, offset: number): MetricRecord | null {
    const { applied } = this.fold.apply(event, offset);
    if (!applied || event.runId !== this.runId) return null;
    if (event.kind === 'UpdateApplied') this.committedUpdate = event.payload.updateNumber;
    if (event.kind !== 'MetricsLogged') return null;
    const { source } = event.payload;
    if (source === 'collector')
      for (const [name, value] of measuredValues(event.payload)) this.round.set(name, value);
    const made =
      source === 'trainer'
        ? this.updateRecord(event.payload)
        : source === 'evaluation'
          ? this.evaluationRecord(event.payload)
          : null;
    return made === null ? null : { ...made, occurredAtUs: event.occurredAtUs };
  }

  private updateRecord(logged: MetricsLogged): Omit<MetricRecord, 'occurredAtUs'> | null {
    const { step } = logged;
    if (step !== this.committedUpdate) return null;

    this.committedUpdate = null;
    const values = [...measuredValues(logged), ...this.round];
    this.round.clear();
    return { kind: 'update', step, values };
  }

  private evaluationRecord(logged: MetricsLogged): Omit<MetricRecord, 'occurredAtUs'> | null {
    const kind = findRecordKind(logged);
    const key = `${kind ?? ''} ${logged.step}`;
    if (kind === null || this.seen.has(key)) return null;
    this.seen.add(key);
    return { kind, step: logged.step, values: measuredValues(logged) };
  }
}

/** The split of an evaluation, which its metrics are named by (`validation/success`); null for another evaluation. */
function findRecordKind({ names }: MetricsLogged): MetricRecordKind | null {
  const split = names[0]?.split('/')[0];
  return split === 'validation' || split === 'test' ? split : null;
}

function measuredValues({ names, values }: MetricsLogged): Values {
  return names.map((name, i) => [name, values[i]] as const).filter(([, value]) => !Number.isNaN(value));
}
