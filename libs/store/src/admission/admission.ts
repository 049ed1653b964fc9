import type { LogRecord } from '@retrace/log';
import type { AnyEvent, EpisodePlaces } from '@retrace/trajectory';

/** Whether an event was taken; `unknown` until `Admission.learn` was given its record. */
export type Admitted = 'yes' | 'no' | 'unknown';

/**
 * Decides which records of one stream partition count beside the others there: a pure function of the records before each, whatever
 * the batches, and however often the sink began anew.
 */
export interface Admission {
  /** Of a record of stream `trajectories`. */
  readonly maxEventBytes: number;
  /** The episode, to be asked about the next record of it; null until `learn`. */
  episodeOf(runId: string, episodeId: string): EpisodePlaces | null;
  /** Whether the run of the next control event has started. */
  admitControl(event: AnyEvent): Admitted;
  /** Reads what is not known of the episodes and runs of these records, the next ones in log order. */
  learn(records: readonly LogRecord[]): Promise<void>;
}
