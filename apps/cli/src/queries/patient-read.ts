import pRetry from 'p-retry';

/** How long a command waits for a store that is started again. */
export const PATIENCE_MS = 60_000;
const LOOK_AGAIN_MS = 250;

interface Patience {
  /** Whether nobody starts the store again (default: somebody does). */
  readonly isGone?: () => boolean;
  readonly signal?: AbortSignal;
}

/** Reads, and reads again from the start while the store is not there, for a minute. */
export function readPatiently<R>(
  read: () => Promise<R>,
  { isGone = () => false, signal }: Patience = {},
): Promise<R> {
  return pRetry(read, {
    retries: Infinity,
    factor: 1,
    minTimeout: LOOK_AGAIN_MS,
    maxRetryTime: PATIENCE_MS,
    shouldRetry: ({ error }) => !isGone() && signal?.aborted !== true && isUnavailable(error),
  });
}

function isUnavailable(error: Error): boolean {
  return 'code' in error && error.code === 'STORE_UNAVAILABLE';
}
