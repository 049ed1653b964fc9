import { hash } from 'node:crypto';
import { uuidFromBytes } from '@retrace/trajectory';
import type { IdentifiedFile } from './import-rows.js';

/**
 * The id of the run that an import makes, always the same for the same format and content, or for the same name: a UUIDv8 (RFC 9562,
 * 5.8) of their hash. So a second import of the same files finds the run that the first one made.
 *
 * @param name the name that the user gave the run; null = the content identifies it
 */
export function importRunId(format: string, name: string | null, files: readonly IdentifiedFile[]): string {
  const content = files.map(({ sha256 }) => sha256).sort();
  const key = JSON.stringify(name === null ? { format, content } : { name });
  const bytes = hash('sha256', `import/${key}`, 'buffer').subarray(0, 16);
  bytes[6] = 0x80 | (bytes[6] & 0x0f);
  bytes[8] = 0x80 | (bytes[8] & 0x3f);
  return uuidFromBytes(bytes);
}
