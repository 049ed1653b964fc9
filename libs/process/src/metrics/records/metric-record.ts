/** Whether an update was measured, or a policy in an evaluation on tasks of a split. */
export type MetricRecordKind = 'update' | 'validation' | 'test';

/** The metrics of one update or of one evaluation, as they are written to files of other tools. */
export interface MetricRecord {
  readonly kind: MetricRecordKind;
  /** The update's number, or the policy version that was evaluated: version n is that after update n. */
  readonly step: number;
  /** Microseconds since the Unix epoch at which the log's event was made. */
  readonly occurredAtUs: number;
  /** Names and values in order, none of them NaN. Those of an update include the newest round's before it. */
  readonly values: readonly (readonly [name: string, value: number])[];
}
