import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { SINK_GROUP } from '@retrace/log';
import { Strace, whyNoStrace } from './strace.mjs';

/**
 * The faults that a soak mixes. Each draws its parameters first, all from one random source, so that the schedule depends only on the
 * seed and not on the machine's abilities or speed.
 *
 * @typedef {object} FaultKind
 * @property {string} name
 * @property {'lmdb' | 'kafka'} [only] The log that it needs; default: either.
 * @property {boolean} [needsStrace]
 * @property {(random: Draw) => Record<string, any>} draw
 * @property {(bench: import('./fault-bench.mjs').FaultBench, drawn: any) => Promise<unknown>} run Leaves killed processes
 *   dead.
 */

/**
 * @typedef {object} Draw
 * @property {(from: number, to: number) => number} integer Both included.
 * @property {<T>(values: readonly T[]) => T} oneOf
 */

const CLOCK_JUMPS = {
  NODE_OPTIONS: `--import ${fileURLToPath(new URL('clock-jumps.mjs', import.meta.url))}`,
};
const AT_LATEST_MS = 2_000;
const STREAMS = /** @type {const} */ (['control', 'trajectories']);

const inMs = (random) => random.integer(0, 400);
const storePoint = (random) => {
  const name = random.oneOf(['write', 'fdatasync', 'rename', 'mkdir', 'unlink']);
  const most = { write: 22, fdatasync: 6 }[name] ?? 1;
  return { name, nth: random.integer(1, most) };
};

/** @type {readonly FaultKind[]} */
export const FAULT_KINDS = [
  {
    name: 'store killed',
    draw: (random) => ({ afterMs: inMs(random) }),
    run: async (bench, { afterMs }) => {
      await sleep(afterMs);
      await bench.store.end();
    },
  },
  {
    name: 'store killed at a call',
    needsStrace: true,
    draw: storePoint,
    run: (bench, point) => killAtCall(bench.store, point),
  },
  {
    name: 'store killed in a merge',
    needsStrace: true,
    draw: storePoint,
    run: async (bench, point) => {
      const merging = bench.client.command('OPTIMIZE TABLE events FINAL').catch(() => undefined);
      await killAtCall(bench.store, point);
      await merging;
    },
  },
  {
    name: 'store stopped in order',
    draw: () => ({}),
    run: (bench) => bench.store.end('SIGTERM'),
  },
  {
    name: 'disk fails',
    needsStrace: true,
    draw: (random) => ({
      call: random.oneOf(['fdatasync', 'rename', 'mkdir']),
      error: random.oneOf(['EIO', 'ENOSPC']),
      forMs: random.integer(100, 1_500),
    }),
    run: async (bench, { call, error, forMs }) => {
      const strace = await Strace.attach(bench.store.pid, [call], `error=${error}`);
      await sleep(forMs);
      await strace.detach();
    },
  },
  {
    name: 'disk full',
    draw: (random) => ({ maxFileBytes: random.integer(200, 6_000), forMs: random.integer(100, 1_500) }),
    run: async ({ store }, { maxFileBytes, forMs }) => {
      const setLimit = (limit) =>
        spawnSync('prlimit', ['--pid', String(store.pid), `--fsize=${limit}:unlimited`]);
      setLimit(maxFileBytes);
      // The store may detect the short write and exit.
      await Promise.race([store.ended, sleep(forMs)]);
      setLimit('unlimited');
    },
  },
  {
    name: 'sink killed',
    draw: (random) => ({ afterMs: inMs(random) }),
    run: async (bench, { afterMs }) => {
      await sleep(afterMs);
      await bench.sinks[0].end();
    },
  },
  {
    name: 'sink killed at a call',
    needsStrace: true,
    draw: (random) => ({
      name: random.oneOf(['fdatasync', 'pwrite64', 'writev', 'write']),
      nth: random.integer(1, 12),
    }),
    run: (bench, point) => killAtCall(bench.sinks[0], point),
  },
  {
    name: 'sink asleep while another works',
    draw: (random) => ({ forMs: random.integer(200, 2_000) }),
    run: async (bench, { forMs }) => {
      const [sleeper] = bench.sinks;
      sleeper.child.kill('SIGSTOP');
      // If it holds the write lock of an LMDB log, all other processes wait until it wakes.
      const starting = bench.startSink();
      await sleep(forMs);
      sleeper.child.kill('SIGCONT');
      await starting;
    },
  },
  {
    name: 'sinks that share the partitions otherwise, again and again',
    draw: (random) => ({
      rounds: Array.from({ length: random.integer(1, 3) }, () => ({
        count: random.integer(1, 3),
        signal: random.oneOf(/** @type {const} */ (['SIGKILL', 'SIGTERM'])),
        forMs: random.integer(50, 400),
      })),
    }),
    run: async (bench, { rounds }) => {
      for (const { count, signal, forMs } of rounds) {
        const before = bench.sinks.splice(0);
        const shares = Array.from({ length: count }, (_, index) => ({ index, count }));
        await Promise.all(shares.map((share) => bench.startSink({ share })));
        await Promise.all(before.map((sink) => sink.end(signal)));
        await sleep(forMs);
      }
    },
  },
  {
    name: 'sink that begins at the first record',
    draw: () => ({}),
    run: (bench) => bench.startSink({ mutation: 'position-forgotten' }),
  },
  {
    name: 'sink and store with clocks that jump',
    draw: () => ({}),
    run: async (bench) => {
      await bench.restartStore({ environment: CLOCK_JUMPS });
      await bench.startSink({}, { environment: CLOCK_JUMPS });
    },
  },
  {
    name: 'cursors moved',
    draw: (random) => ({ cursor: random.oneOf([0, 1, 17, 1_000_000]) }),
    run: async ({ log }, { cursor }) => {
      for (const stream of STREAMS) {
        for (let partition = 0; partition < log.numPartitions(stream); partition += 1) {
          await log.commitCursor(SINK_GROUP, stream, partition, cursor).catch(() => undefined);
        }
      }
    },
  },
  {
    name: 'store set back',
    draw: (random) => ({ numOffsets: random.integer(1, 200), partition: random.integer(0, 1) }),
    run: async (bench, { numOffsets, partition }) => {
      await Promise.all(bench.sinks.splice(0).map((sink) => sink.end()));
      // A killed sink's last insert may still be on its way in the store. It must not come after rows that this takes away: a backup has no holes.
      await bench.restartStore();
      const where = `log_stream = 'trajectories' AND log_partition = ${partition}`;
      await bench.client.command(
        `DELETE FROM events WHERE ${where} AND log_offset + ${numOffsets} >
          (SELECT max(log_offset) FROM events WHERE ${where})`,
        { settings: { lightweight_deletes_sync: '2' } },
      );
    },
  },
  {
    name: 'broker killed',
    only: 'kafka',
    draw: (random) => ({ forMs: random.integer(0, 1_500) }),
    run: async ({ broker }, { forMs }) => {
      await broker.command('kill');
      await sleep(forMs);
      await broker.command('start');
    },
  },
];

/** Returns why this fault can't be injected here; null when it can. @param {FaultKind} kind @param {'lmdb' | 'kafka'} logKind */
export function whySkipped(kind, logKind) {
  if (kind.only !== undefined && kind.only !== logKind) return `the log is on ${logKind}`;
  return kind.needsStrace ? whyNoStrace() : null;
}

async function killAtCall({ pid, ended }, { name, nth }) {
  const strace = await Strace.attach(pid, [name], `signal=SIGKILL:when=${nth}`);
  await strace.detachAfter(ended, AT_LATEST_MS);
}
