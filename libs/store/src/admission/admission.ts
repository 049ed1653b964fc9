import type { LogRecord } from '@retrace/log';
import type { AnyEvent, EpisodePlaces } from '@retrace/trajectory';
import type { TracingRules } from '../rows/traced-inputs.js';
import type { PeekedEnvelope } from '@retrace/trajectory/codec';

/** The owner of a record, from its envelope. */
export type RecordOwner = Pick<PeekedEnvelope, 'kind' | 'runId' | 'episodeId'>;

/** `retry`: the admission must `learn` about the record first. */
export type ControlAdmission = 'accepted' | 'unknownRun' | 'retry';

/**
 * Decides which records of one stream partition become rows. The decision about a record is a pure function of the records before it:
 * how they were batched and how often a sink was restarted makes no difference.
 */
export interface Admission extends TracingRules {
  /** Longest record of stream `trajectories` that is accepted. */
  readonly maxEventBytes: number;
  /**
   * Whether the record belongs to a run or an episode that was deleted.
   *
   * @param known the record's envelope, where it was read already
   */
  isDeleted(record: LogRecord, known?: RecordOwner): boolean;
  /** Which places of an episode the records before the next one hold; undefined until `learn` has read them. */
  findPlaces(runId: string, episodeId: string): EpisodePlaces | undefined;
  /** Whether the run of the next control event has started. */
  admitControl(event: AnyEvent): ControlAdmission;
  /** Reads from the store what is missing to decide about these records, which are the next ones in log order. */
  learn(records: readonly LogRecord[]): Promise<void>;
}
