import { execFileSync, spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../testing/temporary-directory.js';
import { WheelArchive } from './wheel-archive.js';

/** Writes the archive with Python's own zipfile module, which pip reads wheels with. */
const WRITER = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as archive:
    archive.writestr('package/deflated.txt', 'deflated ' * 100000, zipfile.ZIP_DEFLATED)
    archive.writestr('package/stored.bin', bytes(range(256)), zipfile.ZIP_STORED)
    archive.writestr('package/empty.py', '', zipfile.ZIP_DEFLATED)
    if len(sys.argv) > 2:
        archive.writestr(sys.argv[2], 'outside')
`;
const hasPython = spawnSync('python3', ['--version']).status === 0;

async function wheelWith(...extraPath: string[]): Promise<string> {
  const path = join(await temporaryDirectory(), 'test.whl');
  execFileSync('python3', ['-c', WRITER, path, ...extraPath]);
  return path;
}

describe.skipIf(!hasPython)(
  'WheelArchive (skipped where python3 is missing, because it writes the archives)',
  () => {
    it('reads the deflated, stored and empty files that Python wrote', async () => {
      const path = await wheelWith();
      const archive = await WheelArchive.open(path);
      const contents = new Map<string, Buffer>();
      let numBytes = 0;
      for (const entry of archive.entries) {
        const target = `${path}.files/${entry.fileName}`;
        await archive.extract(entry, target, (count) => (numBytes += count));
        contents.set(entry.fileName, await readFile(target));
      }
      archive.close();
      expect(contents.get('package/deflated.txt')?.toString()).toBe('deflated '.repeat(100_000));
      expect(contents.get('package/stored.bin')).toEqual(
        Buffer.from(Array.from({ length: 256 }, (_, i) => i)),
      );
      expect(contents.get('package/empty.py')).toHaveLength(0);
      expect(numBytes).toBe(900_256);
    });

    it('refuses a file whose content does not have the recorded checksum', async () => {
      const path = await wheelWith();
      const bytes = await readFile(path);
      const at = bytes.indexOf(Buffer.from([10, 11, 12, 13, 14]));
      bytes[at] ^= 1;
      await writeFile(path, bytes);
      const archive = await WheelArchive.open(path);
      const stored = archive.entries.find((entry) => entry.fileName.endsWith('stored.bin'))!;
      await expect(archive.extract(stored, `${path}.out`)).rejects.toThrow(
        'does not have its recorded checksum',
      );
      archive.close();
    });

    it('refuses a path that leads out of the archive', async () => {
      await expect(WheelArchive.open(await wheelWith('../outside.txt'))).rejects.toThrow(
        'invalid relative path: ../outside.txt',
      );
    });

    it.each([0, 10, 100])('refuses an archive cut off after %i bytes', async (length) => {
      const path = await wheelWith();
      await writeFile(path, (await readFile(path)).subarray(0, length));
      await expect(WheelArchive.open(path)).rejects.toMatchObject({ code: 'BACKEND_INSTALL_FAILED' });
    });
  },
);
