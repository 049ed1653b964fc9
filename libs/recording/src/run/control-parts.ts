import type { EventLog } from '@retrace/log';
import type { StoreClient } from '@retrace/store';
import type { RunBook } from './run-book.js';

/** Shared by all that write control events of runs: claims, updates, notebooks, answers to alarms. */
export interface ControlParts {
  readonly log: EventLog;
  readonly client: StoreClient;
  readonly runs: RunBook;
  /** Microseconds since the Unix epoch. */
  readonly nowUs: () => number;
}

/** The same, for events with texts of people, of which rules hide what may not be stored. */
export interface RedactingParts extends ControlParts {
  readonly redact: <T extends object>(value: T) => T;
}
