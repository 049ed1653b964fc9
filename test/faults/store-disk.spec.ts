import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FaultBench } from '../support/fault-bench.mjs';
import { Strace, whyNoStrace } from '../support/strace.mjs';

const FAILING_MS = 500;
const noStrace = whyNoStrace();

/** Cuts a write beyond the limit of the file's size short, as a full disk does; without the trap the process would be killed. */
const limitable = ['bash', '-c', `trap '' XFSZ; exec "$0" "$@"`];

/** After the disk works again, expects everything in the store, also after a restart of the store from its disk. */
async function expectAllOnDisk(bench: FaultBench): Promise<void> {
  expect(bench.sinks.map(({ child }) => child.exitCode)).toEqual([null]);
  await bench.untilVisible();
  expect((await bench.audit()).faults).toEqual([]);
  await bench.restartStore({ prefix: limitable });
  await bench.untilVisible();
  expect((await bench.audit()).faults).toEqual([]);
}

describe('a store whose disk fails', () => {
  let bench: FaultBench;

  beforeAll(async () => {
    bench = await FaultBench.open({ storeOptions: { prefix: limitable } });
    await bench.startSink();
  });
  afterAll(() => bench.close());

  it.skipIf(noStrace !== null).each([
    ['fdatasync', 'EIO'],
    ['rename', 'EIO'],
    ['mkdir', 'ENOSPC'],
  ])(
    `store: confirms no insert while %s fails with %s, and has everything afterwards${noStrace === null ? '' : ` (skipped, because ${noStrace})`}`,
    async (call, error) => {
      const strace = await Strace.attach(bench.store.pid, [call], `error=${error}`);
      await bench.appendEpisodes(2, { pauseMs: 30 });
      await strace.untilCalled();
      await sleep(FAILING_MS);
      await strace.detach();
      await expectAllOnDisk(bench);
    },
  );

  /** The engine does not check the outcome of these writes: INSERT and merge would succeed with truncated parts. */
  it.each([300, 900, 2048])(
    'store: exits instead of confirming an insert where files are cut at %i bytes, and has everything after a restart',
    async (maxFileBytes) => {
      const setLimit = (limit: string) =>
        execFileSync('prlimit', ['--pid', String(bench.store.pid), `--fsize=${limit}:unlimited`]);
      await bench.appendEpisodes(4, { pauseMs: 30 });
      await bench.untilVisible();
      setLimit(String(maxFileBytes));
      const merging = bench.client.command('OPTIMIZE TABLE events FINAL').catch(() => undefined);
      await bench.appendEpisodes(2, { pauseMs: 30 });
      expect(await bench.store.ended).toBe(1);
      expect(bench.store.said).toMatch(/data of default\.events\/all_\d\S* was not stored/);
      await merging;
      await bench.restartStore({ prefix: limitable });
      await expectAllOnDisk(bench);
      // The sources of a truncated merge count again.
      await bench.client.command('OPTIMIZE TABLE events FINAL');
      expect((await bench.audit()).faults).toEqual([]);
    },
  );
});

describe('a store on a file system that is full', () => {
  let mounted: string;
  let problem: string | null = null;

  beforeAll(() => {
    mounted = mkdtempSync(join(tmpdir(), 'retrace-small-disk-'));
    const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=192m', 'tmpfs', mounted]);
    if (status !== 0) problem = `no small file system can be mounted here (${String(stderr).trim()})`;
  });
  afterEach(() => {
    if (problem === null) execFileSync('umount', ['--lazy', mounted]);
    rmSync(mounted, { recursive: true, force: true });
  });

  it('store: continues at its position when there is space again', async ({ skip }) => {
    if (problem !== null) skip(`skipped, because ${problem}`);
    const bench = await FaultBench.open({ storeDirectory: join(mounted, 'store') });
    try {
      await bench.startSink();
      await bench.appendEpisodes(2);
      await bench.untilVisible();
      const ballast = join(mounted, 'ballast');
      expect(() => writeFileSync(ballast, new Uint8Array(250e6))).toThrow(/ENOSPC/);
      await bench.appendEpisodes(3, { numSteps: 30 });
      await sleep(FAILING_MS);
      const [{ n }] = await bench.client.queryRows<{ n: number }>('SELECT count() AS n FROM episodes');
      expect(n).toBe(2);
      rmSync(ballast);
      await expectAllOnDisk(bench);
    } finally {
      await bench.close();
    }
  });
});
