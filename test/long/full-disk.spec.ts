import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeDataDirectory } from '../support/cli.mjs';
import { canMount, DISK_FULL, fillDisk, runOnSmallDisk } from '../support/small-disk.mjs';

let directory: ReturnType<typeof makeDataDirectory>;
beforeEach(() => {
  directory = makeDataDirectory();
});
afterEach(() => {
  directory.remove();
});

it.skipIf(!canMount())(
  'a disk that fills up under a run ends it with one sentence, and nothing acknowledged is lost',
  () => {
    const verify = '"$1" "$2" verify --data-dir "$0/data"';
    const script = `${fillDisk(8)} & "$@" || { rm "$0/ballast"; ${verify}; }`;
    const recipe = ['--recipe', 'bandit-ppo', '--backend', 'wasm', '--updates', '2000'];
    const { code, lines } = runOnSmallDisk(join(directory.path, 'disk'), script, ['train', ...recipe]);
    expect(lines.filter((line) => line.startsWith('retrace:'))).toEqual([expect.stringMatching(DISK_FULL)]);
    expect(code).toBe(0);
  },
  240_000,
);
