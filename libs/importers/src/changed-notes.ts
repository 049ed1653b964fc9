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
 * Annotations for tags and metadata that differ from those of the import before, under new ids: they may change back. What somebody else gave the
 * episode since stays where they do not differ.
 *
 * @param asStored makes a record what is stored of it
 */
export function changedNotes(
  starts: readonly WireRecord[],
  before: ReadonlyMap<string, ImportedNotes>,
  asStored: (record: WireRecord) => WireRecord,
): readonly WireRecord[] {
  return starts.flatMap((start) => {
    const noted = before.get(start.episode);
    const stored = asStored(start);
    if (start.type !== 'episode' || stored.type !== 'episode' || noted === undefined) return [];
    const changed = known({
      tags: differs(stored.tags, noted.tags) ? start.tags : undefined,
      metadata: differs(stored.metadata, noted.metadata) ? start.metadata : undefined,
    });
    if (Object.keys(changed).length === 0) return [];
    return [{ type: 'annotation', id: randomUUID(), episode: start.episode, source: 'import', ...changed }];
  });
}

function differs(given: unknown, noted: unknown): boolean {
  return given !== undefined && !isDeepStrictEqual(given, noted);
}
