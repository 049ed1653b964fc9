import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../testing/temporary-directory.js';
import { downloadWheel } from './download-wheel.js';
import type { WheelPin } from './wheel-pins.js';

const CONTENT = 'a wheel';
const pin: WheelPin = {
  distribution: 'package',
  version: '1.2.3',
  fileName: 'package.whl',
  sizeBytes: CONTENT.length,
  sha256: createHash('sha256').update(CONTENT).digest('hex'),
  pipPlatform: 'any',
};

/** Stands in for Python: notes that it was called, and does what pip would do to the directory after `--dest`. */
async function pipThat(action: string): Promise<{ python: string; directory: string; calls: string }> {
  const root = await temporaryDirectory();
  const python = join(root, 'python3');
  const calls = join(root, 'calls');
  const script = `#!/bin/sh
echo called >> ${calls}
while [ "$1" != --dest ]; do shift; done
dest=$2
${action}
`;
  await writeFile(calls, '');
  await writeFile(python, script, { mode: 0o755 });
  const directory = join(root, 'downloads');
  await mkdir(directory);
  return { python, directory, calls };
}

const ignoreFraction = (): void => undefined;

describe('downloadWheel', () => {
  it('keeps a download that has the pinned content, instead of repeating it', async () => {
    const { python, directory, calls } = await pipThat(`printf '${CONTENT}' > "$dest/package.whl"`);
    const options = { python, directory, onFraction: ignoreFraction };
    const path = await downloadWheel(pin, options);
    expect(await readFile(path, 'utf8')).toBe(CONTENT);
    expect(await downloadWheel(pin, options)).toBe(path);
    expect(await readFile(calls, 'utf8')).toBe('called\n');
  });

  it('refuses and removes a download with other content', async () => {
    const { python, directory } = await pipThat('printf corrupt > "$dest/package.whl"');
    const attempt = downloadWheel(pin, { python, directory, onFraction: ignoreFraction });
    await expect(attempt).rejects.toMatchObject({ code: 'BACKEND_INSTALL_FAILED', retriable: true });
    await expect(attempt).rejects.toThrow(/package\.whl was refused: its SHA-256 is [0-9a-f]{64}, pinned is/);
    expect(await readdir(directory)).toEqual([]);
  });

  it('downloads a file again that was damaged since', async () => {
    const { python, directory } = await pipThat(`printf '${CONTENT}' > "$dest/package.whl"`);
    await writeFile(join(directory, 'package.whl'), 'half a wh');
    const path = await downloadWheel(pin, { python, directory, onFraction: ignoreFraction });
    expect(await readFile(path, 'utf8')).toBe(CONTENT);
  });

  it("names the last line of pip's output when it fails", async () => {
    const { python, directory } = await pipThat('echo "no route to the index" >&2; exit 1');
    const attempt = downloadWheel(pin, { python, directory, onFraction: ignoreFraction });
    await expect(attempt).rejects.toThrow(
      'Downloading package==1.2.3 failed; pip says: no route to the index.',
    );
    expect(await readdir(directory)).toEqual([]);
  });

  it('stops when it is cancelled', async () => {
    const { python, directory } = await pipThat('sleep 60');
    const signal = AbortSignal.timeout(100);
    const attempt = downloadWheel(pin, { python, directory, signal, onFraction: ignoreFraction });
    await expect(attempt).rejects.toThrow('it was cancelled');
  });

  it('reports the downloaded fraction', async () => {
    const { python, directory } = await pipThat(`printf 'a w' > "$TMPDIR/part"; sleep 1.2; rm "$TMPDIR/part"
printf '${CONTENT}' > "$dest/package.whl"`);
    const fractions: number[] = [];
    await downloadWheel(pin, { python, directory, onFraction: (fraction) => fractions.push(fraction) });
    expect(fractions).toContain(3 / 7);
  });
});
