import { setTimeout as sleep } from 'node:timers/promises';
import { announceReader, type EventLog } from '@retrace/log';
import type { StoreClient } from '../client/store-client.js';
import { hasRecordIn } from '../position/backlog.js';
import { readNextOffset } from '../position/store-position.js';
import { type StreamPartition, listStreamPartitions } from '../rows/stream-partition.js';
import { catchUp } from './catch-up.js';

const POLL_MS = 50;
/** After so long without progress the log is asked whether any record is left, which offsets do not tell. */
const QUIET_MS = 500;

/** One stream partition, and where its end was when the wait began. */
interface Target {
  readonly position: StreamPartition;
  readonly endOffset: number;
}

/** How far the store is behind the targets. Offsets that hold no record count too, unless the log was asked about them. */
type Backlog = { readonly kind: 'empty' } | { readonly kind: 'behind'; readonly numOffsets: number };

/**
 * Resolves once the store holds what the log holds now. Normally a sink in another process writes it. Where the store makes no
 * progress for `stallMs` (default 10,000) no sink is running, and the rest is written from here.
 *
 * @throws StoreError or LogError that no retry can mend; where `signal` aborts, its reason or the error of the request that it ended
 */
export async function untilVisible(
  log: EventLog,
  client: StoreClient,
  { stallMs = 10_000, signal }: { readonly stallMs?: number; readonly signal?: AbortSignal } = {},
): Promise<void> {
  const targets = await Promise.all(
    listStreamPartitions(log).map(async (position) => ({
      position,
      endOffset: await log.endOffset(position.stream, position.partition),
    })),
  );
  let leastOffsets = Infinity;
  let isAnnounced = false;
  let progressedMs = performance.now();
  for (;;) {
    const isQuiet = performance.now() - progressedMs > QUIET_MS;
    const backlog = await readBacklog(client, targets, { log: isQuiet ? log : null, signal });
    if (backlog.kind === 'empty') return;
    if (!isAnnounced)
      for (const { position, endOffset: end } of targets) await announceReader(log, { ...position, end });
    isAnnounced = true;
    if (backlog.numOffsets < leastOffsets) progressedMs = performance.now();
    leastOffsets = backlog.numOffsets;
    if (performance.now() - progressedMs > stallMs) return catchUp(log, client);
    await sleep(POLL_MS, undefined, { signal });
  }
}

/** Asks the log whether the offsets that are left hold any record; a `log` of null skips that. */
async function readBacklog(
  client: StoreClient,
  targets: readonly Target[],
  { log, signal }: { readonly log: EventLog | null; readonly signal?: AbortSignal },
): Promise<Backlog> {
  let numOffsets = 0;
  let hasRecord = log === null;
  for (const { position, endOffset: end } of targets) {
    const from = await readNextOffset(client, position, signal);
    numOffsets += Math.max(0, end - from);
    hasRecord ||= log !== null && (await hasRecordIn(log, { ...position, from, end }));
  }
  return numOffsets === 0 || !hasRecord ? { kind: 'empty' } : { kind: 'behind', numOffsets };
}
