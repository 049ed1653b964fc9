export type FaultCode =
  /** The log has the record, the store lacks it. */
  | 'ROW_MISSING'
  /** The store's row at the record's offset holds something else. */
  | 'ROW_DIFFERS'
  /** The store has a row at an offset where the log has no record. */
  | 'ROW_UNKNOWN'
  /** The store holds records beyond the log's end: the log lost some, or is a different log with the same id. */
  | 'STORE_AHEAD_OF_LOG'
  /** The store has events of another log, which this one can't account for. */
  | 'STORE_OF_OTHER_LOG'
  /** The log starts after the last record of the store: the records between are lost. */
  | 'LOG_TRUNCATED'
  /** The store has a row of a run that was deleted. */
  | 'ROW_OF_DELETED_RUN'
  /** The columns of a row do not match its checksum. */
  | 'ROW_DAMAGED'
  /** A sealed episode lacks steps, or its seal does not add up. */
  | 'EPISODE_INCONSISTENT'
  /** A view differs from the fold of an episode's events. */
  | 'EPISODE_VIEW_DIFFERS'
  /** An update was computed from other content of an episode than the store shows. */
  | 'TRAINED_EPISODE_DIFFERS'
  /** A view differs from the fold of a run's control events. */
  | 'RUN_VIEW_DIFFERS';

export interface StoreFault {
  readonly code: FaultCode;
  /** Offset, episode or run. */
  readonly where: string;
  readonly message: string;
}

/** Collects faults: counts all and keeps the first ones. */
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
