import type { LogRecord } from '@retrace/log';
import { newControlEvent, newEpisodeEvent } from '@retrace/trajectory';
import { encodeEvent, peekEnvelope } from '@retrace/trajectory/codec';

/**
 * Makes the record that stands in a log where a deleted one marked the end of a partition: of the same run and episode, so deleted like it,
 * and without content. A record without an envelope becomes no event at all.
 */
export function deletedPlaceholder({ bytes }: LogRecord): Uint8Array {
  const envelope = peekEnvelope(bytes);
  return envelope === null ? Buffer.from('deleted') : placeholderFor(envelope);
}

/** @param owner `episodeId` is '' for a record of stream `control` */
export function placeholderFor({
  logId,
  runId,
  episodeId,
}: {
  readonly logId: string;
  readonly runId: string;
  readonly episodeId: string;
}): Uint8Array {
  const common = { logId, runId, occurredAtUs: 0 };
  if (episodeId === '') {
    const payload = { reason: 'stopped', detail: 'deleted', numUpdates: 0 } as const;
    return encodeEvent(newControlEvent({ ...common, kind: 'RunEnded', payload }));
  }
  const payload = { tags: null, metadata: null, source: 'deleted' };
  return encodeEvent(newEpisodeEvent({ ...common, kind: 'EpisodeAnnotated', episodeId, seq: 0, payload }));
}
