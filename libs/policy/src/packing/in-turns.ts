import { setImmediate } from 'node:timers/promises';

/**
 * Gives packs one after the other, and the event loop a turn between two: a pass blocks the thread, on which this process may also have to read the
 * log or answer requests.
 */
export async function* inTurns<T>(packs: Iterable<T>): AsyncGenerator<T, void, undefined> {
  let isFirst = true;
  for (const pack of packs) {
    if (!isFirst) await setImmediate();
    isFirst = false;
    yield pack;
  }
}
