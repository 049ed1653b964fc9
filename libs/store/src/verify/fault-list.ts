export type FaultCode =
  /** The log has the record, the store lacks it. */
  | 'ROW_MISSING'
  /** The store's row at the record's offset says something else. */
  | 'ROW_DIFFERS'
  /** The store has a row at an offset where the log has no record. */
  | 'ROW_UNKNOWN'
  /** The store holds records from beyond the log's end: the log lost some, or is another under the same id. */
  | 'STORE_AHEAD_OF_LOG'
  /** The log begins behind what the store holds: what lay between is lost. */
  | 'LOG_TRUNCATED'
  /** The store has a row of a run that was deleted. */
  | 'ROW_OF_DELETED_RUN'
  /** A row does not match its checksum. */
  | 'ROW_DAMAGED'
  /** A sealed episode lacks steps, or its seal does not add up. */
  | 'EPISODE_INCONSISTENT'
  /** A view shows an episode otherwise than the fold of its events. */
  | 'EPISODE_VIEW_DIFFERS'
  /** A view shows a run otherwise than the fold of the control stream. */
  | 'RUN_VIEW_DIFFERS';

export interface StoreFault {
  readonly code: FaultCode;
  /** Offset, episode or run. */
  readonly where: string;
  readonly message: string;
}

/** Collects faults: counts all, keeps the first ones. */
export class FaultList {
  readonly faults: StoreFault[] = [];
  numFaults = 0;

  constructor(private readonly maxKept: number) {}

  add(code: FaultCode, where: string, message: string): void {
    this.numFaults++;
    if (this.faults.length < this.maxKept) this.faults.push({ code, where, message });
  }

  addAll({ faults, numFaults }: FaultList): void {
    this.numFaults += numFaults;
    this.faults.push(...faults.slice(0, this.maxKept - this.faults.length));
  }
}
