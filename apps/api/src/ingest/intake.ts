import { ProblemError } from '../problems/problem.js';

/** Bytes of records that may be in memory between arrival and acknowledgement. A record takes several times as much while it is converted. */
const MAX_BYTES_IN_FLIGHT = 48 * 1024 * 1024;
/** Least that a request counts, so that their number is bounded too. */
const MIN_REQUEST_BYTES = 8 * 1024;

/** Counts the bytes of records that are in memory, and refuses more before memory grows. */
export class Intake {
  private bytesInFlight = 0;

  constructor(private readonly maxBytes = MAX_BYTES_IN_FLIGHT) {}

  /**
   * Admits a request.
   *
   * @param announcedBytes size that its header states; 0 = unknown
   * @throws ProblemError `TOO_MANY_RECORDS_IN_FLIGHT`
   */
  admit(announcedBytes: number): Reservation {
    if (this.bytesInFlight > 0 && this.bytesInFlight + announcedBytes > this.maxBytes) throw overloaded();
    return new Reservation((bytes) => this.reserve(bytes));
  }

  private reserve(bytes: number): void {
    if (bytes > 0 && this.bytesInFlight + bytes > this.maxBytes) throw overloaded();
    this.bytesInFlight += bytes;
  }
}

/** The share of one request. */
export class Reservation {
  private reservedBytes = 0;

  constructor(private readonly reserve: (bytes: number) => void) {
    this.grow(MIN_REQUEST_BYTES);
  }

  /** @throws ProblemError `TOO_MANY_RECORDS_IN_FLIGHT` */
  grow(bytes: number): void {
    this.reserve(bytes);
    this.reservedBytes += bytes;
  }

  /** Gives everything back; may be called again. */
  release(): void {
    this.reserve(-this.reservedBytes);
    this.reservedBytes = 0;
  }
}

function overloaded(): ProblemError {
  const detail =
    'More records arrive than the log takes; send them again after the time that Retry-After gives';
  return new ProblemError('TOO_MANY_RECORDS_IN_FLIGHT', detail);
}
