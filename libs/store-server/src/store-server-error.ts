import { TrajectoryError } from '@retrace/trajectory';

/** Why a store server could not start, or can't go on; a statement's own failure is an HTTP answer, never one of these. */
export type StoreServerErrorCode =
  | 'STORE_DIRECTORY_IN_USE'
  | 'STORE_DIRECTORY_UNUSABLE'
  | 'STORE_DISK_FULL'
  /** While it ran: the disk did not take what was written. */
  | 'STORE_DISK_FAILED'
  | 'STORE_ADDRESS_IN_USE'
  | 'STORE_ADDRESS_UNUSABLE'
  | 'STORE_INVALID_OPTIONS';

/** An error that keeps a store server from starting, or ends it; each message is one sentence that says what to do. */
export class StoreServerError extends TrajectoryError<StoreServerErrorCode> {}
