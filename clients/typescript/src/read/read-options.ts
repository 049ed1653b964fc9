export interface ReadOptions {
  /** Ends the reading. */
  readonly signal?: AbortSignal;
}
