import { hash } from 'node:crypto';
import { isUuid } from '@retrace/trajectory';

/**
 * Returns the episode id of a caller's name: the name itself where it is a lower-case UUID, otherwise always the same UUIDv8 (RFC 9562,
 * 5.8) of SHA-256 over run and name.
 */
export function toEpisodeId(runId: string, name: string): string {
  if (isUuid(name)) return name;
  const hex = hash('sha256', `external-episode/${runId}/${name}`, 'hex');
  const variant = (0b1000 | (Number.parseInt(hex[16], 16) & 0b11)).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Whether an id begins with its time (UUIDv7), so that ids of later episodes are greater. */
export function isTimeOrdered(episodeId: string): boolean {
  return episodeId[14] === '7';
}

/** The first 53 bits of a hash of these parts: all that an event's `seq` can carry. */
export function hashToSeq(...parts: readonly unknown[]): number {
  return Number(hash('sha256', JSON.stringify(parts), 'buffer').readBigUInt64BE() >> 11n);
}
