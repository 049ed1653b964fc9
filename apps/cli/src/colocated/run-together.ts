import type { RoleMessage, Supervised } from '@retrace/process';

type ReadyMessage = Extract<RoleMessage, { type: 'ready' }>;

/** A part of a process that could be one of its own. */
export interface Part {
  readonly run: (supervised: Supervised) => Promise<unknown>;
  /** Whether the process is ready without it. */
  readonly isLate?: boolean;
}

/**
 * Runs parts until all have ended. Where one fails, the others are asked to stop, and its error is thrown: what they then fail with follows from it.
 *
 * @param supervised is told that the process is ready once all parts are that are not late
 */
export async function runTogether(parts: readonly Part[], supervised: Supervised): Promise<void> {
  const failed = new AbortController();
  const signal = AbortSignal.any([supervised.signal, failed.signal]);
  const numAwaited = parts.filter(({ isLate = false }) => !isLate).length;
  const sendReady = whenAllAreReady(supervised, numAwaited);
  const errors: unknown[] = [];
  await Promise.all(
    parts.map(async ({ run, isLate = false }) => {
      const send = (message: RoleMessage): void => {
        if (message.type !== 'ready') supervised.send(message);
        else if (!isLate) sendReady(message);
      };
      try {
        await run({ ...supervised, signal, send });
      } catch (error) {
        errors.push(error);
        failed.abort();
      }
    }),
  );
  if (errors.length > 0) throw errors[0];
}

/** Takes the ready messages of so many parts, and sends one with all that they say. */
function whenAllAreReady(supervised: Supervised, numParts: number): (message: ReadyMessage) => void {
  const ready: ReadyMessage[] = [];
  return (message) => {
    ready.push(message);
    if (ready.length !== numParts) return;
    // All say which backend they compute with.
    const details = new Set(ready.flatMap(({ detail = '' }) => detail.split('; ')));
    supervised.send({ type: 'ready', detail: [...details].join('; ') });
  };
}
