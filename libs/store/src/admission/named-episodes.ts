import type { LogRecord } from '@retrace/log';
import { peekEnvelope } from '@retrace/trajectory/codec';

/** Lists the episodes that records name, by run, in the order of their first records. Skips records that are damaged or name none. */
export function namedEpisodes(records: readonly LogRecord[]): ReadonlyMap<string, ReadonlySet<string>> {
  const named = new Map<string, Set<string>>();
  for (const { bytes } of records) {
    const envelope = peekEnvelope(bytes);
    if (envelope === null || envelope.episodeId === '') continue;
    const { runId, episodeId } = envelope;
    const ofRun = named.get(runId);
    if (ofRun === undefined) named.set(runId, new Set([episodeId]));
    else ofRun.add(episodeId);
  }
  return named;
}
