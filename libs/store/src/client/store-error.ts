import { ClickHouseError } from '@clickhouse/client';
import { TrajectoryError } from '@retrace/trajectory';

export type StoreErrorCode =
  /** Nothing answers, or the answer broke off: whether a statement took effect is unknown. */
  | 'STORE_UNAVAILABLE'
  | 'STORE_AUTHENTICATION_FAILED'
  /** The engine refused a statement; `cause` is its exception. */
  | 'STORE_EXCEPTION'
  /** The store lacks records that the log holds: the sink has not written them yet. */
  | 'NOT_YET_VISIBLE'
  /** An applied migration's text is not the one on disk. */
  | 'MIGRATION_EDITED'
  /** The store has another migration under a number: it was made before the migrations were combined. */
  | 'MIGRATION_REPLACED'
  /** The store has migrations or views that this code doesn't know: it was written by newer code. */
  | 'MIGRATION_UNKNOWN'
  | 'MIGRATION_INVALID'
  | 'MIGRATION_FAILED'
  | 'CLUSTER_NAME_INVALID'
  /** An operation that works only on one server was called on a cluster. */
  | 'CLUSTER_UNSUPPORTED'
  /** The log no longer holds offsets that the store never got. */
  | 'LOG_TRUNCATED'
  /** The store holds offsets beyond the log's end: the log lost records, or is a different log with the same id. */
  | 'LOG_BEHIND_STORE'
  /** The store has events of another log: this one is new in the place of one that was lost, or the store belongs elsewhere. */
  | 'STORE_OF_OTHER_LOG'
  /** The store lacks the record that identifies a log. */
  | 'LOG_NOT_IN_STORE'
  /** A text that names no moment. */
  | 'MOMENT_INVALID'
  /** The store lacks the event or the commit that a moment names. */
  | 'MOMENT_UNKNOWN'
  /** Other runs depend on the run to be deleted. */
  | 'RUN_REFERRED_TO'
  /** Updates were trained on the episodes to be deleted. */
  | 'EPISODES_REFERRED_TO'
  /** One insert became several parts, so a kill between them could tear a batch. */
  | 'INSERT_NOT_ATOMIC';

/** The error that every method of the store rejects with. */
export class StoreError extends TrajectoryError<StoreErrorCode> {}

/** Exceptions of the engine after which the same statement may succeed later. */
const RETRIABLE_EXCEPTIONS: ReadonlySet<string> = new Set([
  '33', // CANNOT_READ_ALL_DATA: a part that is not whole, until the store has found it and left it out
  '40', // CHECKSUM_DOESNT_MATCH, the same
  '74', // CANNOT_READ_FROM_FILE_DESCRIPTOR
  '75', // CANNOT_WRITE_TO_FILE_DESCRIPTOR
  '76', // CANNOT_OPEN_FILE
  '159', // TIMEOUT_EXCEEDED
  '164', // READONLY, while a table recovers
  '202', // TOO_MANY_SIMULTANEOUS_QUERIES
  '204', // CANNOT_FSYNC
  '209', // SOCKET_TIMEOUT
  '210', // NETWORK_ERROR
  '225', // NO_ZOOKEEPER
  '228', // BAD_SIZE_OF_FILE_IN_DATA_PART, as 33
  '236', // ABORTED
  '241', // MEMORY_LIMIT_EXCEEDED
  '242', // TABLE_IS_READ_ONLY, while a replica has no Keeper
  '243', // NOT_ENOUGH_SPACE
  '246', // CORRUPTED_DATA, as 33
  '252', // TOO_MANY_PARTS
  '279', // ALL_CONNECTION_TRIES_FAILED
  '285', // TOO_FEW_LIVE_REPLICAS
  '286', // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
  '289', // REPLICA_IS_NOT_IN_QUORUM
  '319', // UNKNOWN_STATUS_OF_INSERT
  '394', // QUERY_WAS_CANCELLED
  '999', // KEEPER_EXCEPTION
]);

/** Texts of exceptions without a specific code that mean a disk is full or fails: the engine's, and those of `retrace store`. */
const CODES_OF_OTHERS: ReadonlySet<string> = new Set(['1001', '1002']);
const DISK_FAILED = /filesystem error: |\b(?:ENOSPC|EDQUOT|EFBIG|EIO|EROFS)\b/;

const AUTHENTICATION_FAILED: ReadonlySet<string> = new Set(['192', '193', '194', '516']);

/** The error of a request to the store; `what` names the request in the message. */
export function asStoreError(error: unknown, what: string): StoreError {
  if (error instanceof StoreError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  // An answer that began well and ended in an exception comes as an incomplete stream that holds the exception's text.
  if (error instanceof TrajectoryError && !error.retriable) {
    return new StoreError('STORE_EXCEPTION', `The store broke off ${what}: ${reason}`, { cause: error });
  }
  if (!(error instanceof ClickHouseError)) {
    return new StoreError('STORE_UNAVAILABLE', `The store did not answer ${what}: ${reason}`, {
      retriable: true,
      cause: error,
    });
  }
  if (AUTHENTICATION_FAILED.has(error.code)) {
    return new StoreError(
      'STORE_AUTHENTICATION_FAILED',
      `The store refused the user or password: ${reason}`,
      {
        cause: error,
      },
    );
  }
  return new StoreError('STORE_EXCEPTION', `The store refused ${what}: ${reason} (exception ${error.code})`, {
    retriable: RETRIABLE_EXCEPTIONS.has(error.code) || isDiskFailure(error),
    cause: error,
  });
}

function isDiskFailure({ code, message }: ClickHouseError): boolean {
  return CODES_OF_OTHERS.has(code) && DISK_FAILED.test(message);
}
