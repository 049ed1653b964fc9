import { TrajectoryError } from '@retrace/trajectory/error';

/** Reasons why a store server could not start or must stop; a failure of a statement is an HTTP answer, never one of these. */
export type StoreServerErrorCode =
  | 'STORE_DIRECTORY_IN_USE'
  | 'STORE_DIRECTORY_UNUSABLE'
  | 'STORE_DISK_FULL'
  /** While the server ran, the disk did not store what was written. */
  | 'STORE_DISK_FAILED'
  | 'STORE_ADDRESS_IN_USE'
  | 'STORE_ADDRESS_UNUSABLE'
  /** The engine is not installed and can't be downloaded. */
  | 'STORE_ENGINE_UNAVAILABLE';

/** The error with which a store server fails to start or stops; each message says what to do. */
export class StoreServerError extends TrajectoryError<StoreServerErrorCode> {}
