import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreClient } from '../client/store-client.js';
import { StoreError } from '../client/store-error.js';
import { rewriteParts } from './delete-episodes.js';

const POLL_MS = 250;
/** The engine looks for replaced parts every 40 seconds; on a busy machine what it finds takes its time to go. */
const DEADLINE_MS = 10 * 60_000;

const NUM_REPLACED = `
  SELECT count() AS n FROM system.parts
  WHERE database = currentDatabase() AND table IN ('events', 'reward_scores') AND NOT active`;

/**
 * Removes what deletions left in the files of the store: parts with deleted rows are written again, and the parts that they and merges
 * replaced are removed, which the engine otherwise does within minutes. Takes up to a minute. One that is killed leaves the table with
 * a shorter lifetime of replaced parts, which the next one mends.
 *
 * @throws StoreError `CLUSTER_UNSUPPORTED`; `STORE_UNAVAILABLE` when the engine keeps replaced parts for more than ten minutes; the reason of `signal` when it aborts
 */
export async function dropReplacedParts(client: StoreClient, signal?: AbortSignal): Promise<void> {
  if (client.layout.cluster !== null) {
    const rule = "its servers remove replaced parts by themselves after the table's old_parts_lifetime";
    throw new StoreError(
      'CLUSTER_UNSUPPORTED',
      `Parts of cluster ${client.layout.cluster} can't be dropped from here: ${rule}`,
    );
  }
  await rewriteParts(client);
  await client.command('ALTER TABLE events MODIFY SETTING old_parts_lifetime = 1');
  await client.command('ALTER TABLE reward_scores MODIFY SETTING old_parts_lifetime = 1');
  try {
    const deadlineMs = performance.now() + DEADLINE_MS;
    for (;;) {
      signal?.throwIfAborted();
      const [{ n }] = await client.queryRows<{ n: number }>(NUM_REPLACED);
      if (n === 0) return;
      if (performance.now() > deadlineMs) {
        const message = `The store still keeps ${n} replaced parts after ${DEADLINE_MS / 60_000} minutes; try again later`;
        throw new StoreError('STORE_UNAVAILABLE', message, { retriable: true });
      }
      await sleep(POLL_MS);
    }
  } finally {
    // As migration 0001 has it, and the engine's default.
    await client.command('ALTER TABLE events MODIFY SETTING old_parts_lifetime = 60');
    await client.command('ALTER TABLE reward_scores RESET SETTING old_parts_lifetime');
  }
}
