import type { EventLog } from '@retrace/log';
import { type ControlFold, type DeletedRuns, episodeDigests, type UpdateTraced } from '@retrace/trajectory';
import { decodeEvent, peekEnvelope } from '@retrace/trajectory/codec';
import type { StoreClient } from '../client/store-client.js';
import { StoreError } from '../client/store-error.js';
import { asOfRun } from '../reader/plan-columns.js';
import { TrajectoryReader } from '../reader/trajectory-reader.js';
import type { FaultList } from './fault-list.js';

interface DigestsToVerify {
  readonly log: EventLog;
  readonly client: StoreClient;
  readonly deletedRuns: DeletedRuns;
  /** Of all control events of the log: the runs that there are. */
  readonly fold: ControlFold;
  readonly faults: FaultList;
  readonly signal?: AbortSignal;
}

/** Episodes of one run that an update was computed from. */
interface TracedPart {
  readonly runId: string;
  readonly episodeIds: string[];
  readonly digests: string[];
}

/**
 * Compares the episodes that each update was computed from, which may have come from the log before the store had them, with what the store shows
 * of them now.
 *
 * @throws the reason of `signal` when it aborts
 */
export async function verifyDigests({ log, signal, ...options }: DigestsToVerify): Promise<void> {
  for (let offset = 0; ;) {
    const records = await log.read('control', 0, offset);
    if (records.length === 0) return;
    for (const { bytes } of records) {
      const envelope = peekEnvelope(bytes);
      if (envelope?.kind !== 'UpdateTraced' || !options.fold.run(envelope.runId)) continue;
      signal?.throwIfAborted();
      const decoded = decodeEvent(bytes);
      if (decoded.ok && decoded.event.kind === 'UpdateTraced')
        await verifyUpdate(decoded.event.runId, decoded.event.payload, options);
    }
    offset = records[records.length - 1].offset + 1;
  }
}

async function verifyUpdate(
  ownRunId: string,
  trace: UpdateTraced,
  { client, deletedRuns, fold, faults }: Omit<DigestsToVerify, 'log' | 'signal'>,
): Promise<void> {
  const reader = new TrajectoryReader(client);
  const where = `run ${ownRunId}`;
  // A trainer outside gets episodes of another run as they are; one here has no versions of their policies.
  const keepsVersions = fold.run(ownRunId)?.started.runKind === 'recorded';
  for (const { runId, episodeIds, digests } of listParts(trace)) {
    if (!fold.run(runId)) continue;
    const kept = episodeIds.flatMap((id, i) => (deletedRuns.hasEpisode(runId, id) ? [] : [i]));
    try {
      const columns = await reader.readEpisodes(
        runId,
        kept.map((i) => episodeIds[i]),
      );
      for (const [at, digest] of episodeDigests(
        asOfRun(columns, runId, { ownRunId, keepsVersions }),
      ).entries()) {
        if (digest === digests[kept[at]]) continue;
        const what = `update ${trace.updateNumber} was computed from other content of episode ${columns.episodeIds[at]}`;
        const message = `${what}: the store shows columns of digest ${digest}, its trace states ${digests[kept[at]]}`;
        faults.add('TRAINED_EPISODE_DIFFERS', where, message);
      }
    } catch (error) {
      if (!(error instanceof StoreError) || error.code !== 'NOT_YET_VISIBLE') throw error;
      const message = `update ${trace.updateNumber} was computed from an episode that the store lacks: ${error.message}`;
      faults.add('TRAINED_EPISODE_DIFFERS', where, message);
    }
  }
}

function listParts({ runIds, episodeRuns, episodeIds, episodeDigests: digests }: UpdateTraced): TracedPart[] {
  const parts = runIds.map((runId): TracedPart => ({ runId, episodeIds: [], digests: [] }));
  digests.forEach((digest, e) => {
    const part = parts[episodeRuns[e]];
    part.episodeIds.push(episodeIds[e]);
    part.digests.push(digest);
  });
  return parts;
}
