import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { WireRecord } from '@retrace/recording';
import type { Json } from '@retrace/trajectory';
import { known } from './fields.js';

/** Tags and metadata that the newest import gave an episode, under the name that it has there. */
export interface ImportedNotes {
  readonly episode: string;
  readonly tags: readonly string[];
  readonly metadata: Json;
}

/**
 * The annotation for tags and metadata that differ from those of the import before, under a new id: they may change back. Null where nothing differs;
 * then what somebody else gave the episode since stays.
 *
 * @param start as the dump has it
 * @param stored the same as it is stored
 */
export function changedNotes(
  start: WireRecord,
  stored: WireRecord,
  before: ImportedNotes,
): WireRecord | null {
  if (start.type !== 'episode' || stored.type !== 'episode') return null;
  const changed = known({
    tags: differs(stored.tags, before.tags) ? start.tags : undefined,
    metadata: differs(stored.metadata, before.metadata) ? start.metadata : undefined,
  });
  if (Object.keys(changed).length === 0) return null;
  return { type: 'annotation', id: randomUUID(), episode: start.episode, source: 'import', ...changed };
}

function differs(given: unknown, noted: unknown): boolean {
  return given !== undefined && !isDeepStrictEqual(given, noted);
}
