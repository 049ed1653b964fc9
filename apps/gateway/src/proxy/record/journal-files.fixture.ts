import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const HEADER_BYTES = 8 + 36;

/** The lines that the journal of a state directory has on disk, as JSON; a proxy may be writing it. */
export function journalOnDisk(stateDirectory: string): string[] {
  const folder = join(stateDirectory, 'journal');
  const names = readdirSync(folder).filter((name) => !name.endsWith('.new'));
  return names.sort().flatMap((name) => {
    const bytes = readFileSync(join(folder, name));
    const lines: string[] = [];
    for (let at = HEADER_BYTES; at < bytes.length;) {
      const end = at + 8 + bytes.readUInt32LE(at);
      lines.push(bytes.toString('utf8', at + 8, end));
      at = end;
    }
    return lines;
  });
}
