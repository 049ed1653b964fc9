import type { EventLog } from '@retrace/log';
import type { AnyEvent } from '@retrace/trajectory';
import { decodeEvent, peekEnvelope } from '@retrace/trajectory/codec';

/** Kinds that change what a writer of records may do. */
const WATCHED: ReadonlySet<string> = new Set(['RunStarted', 'RunEnded', 'RunDeleted', 'EpisodesDeleted']);

/** Follows stream `control` from now on, in the background, and passes on the events that begin, end or delete something. */
export class ControlWatch {
  private constructor(
    private readonly following: Promise<void>,
    private readonly stop: AbortController,
  ) {}

  /** @throws LogError */
  static async open(log: EventLog, onEvent: (event: AnyEvent) => void): Promise<ControlWatch> {
    const stop = new AbortController();
    const from = await log.endOffset('control', 0);
    return new ControlWatch(follow(log, from, { onEvent, signal: stop.signal }), stop);
  }

  async close(): Promise<void> {
    this.stop.abort();
    await this.following;
  }
}

const RETRY_MS = 1_000;

async function follow(
  log: EventLog,
  from: number,
  { onEvent, signal }: { readonly onEvent: (event: AnyEvent) => void; readonly signal: AbortSignal },
): Promise<void> {
  let nextOffset = from;
  while (!signal.aborted) {
    try {
      for await (const records of log.follow('control', 0, nextOffset, { signal })) {
        for (const { offset, bytes } of records) {
          nextOffset = offset + 1;
          if (!WATCHED.has(peekEnvelope(bytes)?.kind ?? '')) continue;
          const decoded = decodeEvent(bytes);
          if (decoded.ok) onEvent(decoded.event);
        }
      }
      return;
    } catch {
      // An append reports why the log fails; this only waits until the log is back.
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
    }
  }
}
