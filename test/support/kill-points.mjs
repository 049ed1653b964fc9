import { setTimeout as sleep } from 'node:timers/promises';
import { COMMIT_CALLS, Strace } from './strace.mjs';

/**
 * Kills at commit points: an undisturbed run counts the points, then a process is killed at the start of one of these calls, is
 * started again, and is audited.
 *
 * @typedef {object} KillPoint
 * @property {string} name Name of the system call.
 * @property {number} nth Number of the call in its thread, from 1.
 */

/**
 * @typedef {object} KillOutcome
 * @property {string} point Such as `rename 1`.
 * @property {string} hit File that the process was about to change; empty when it never reached the point.
 * @property {import('./store-audit.mjs').Audit} audit
 */

/** Includes socket writes, because these are the sink's requests. */
const SINK_CALLS = [...COMMIT_CALLS, 'pwritev', 'writev', 'msync', 'ftruncate'];
const EPISODES_PER_KILL = 3;
/** Hundreds of calls under strace take seconds on a busy machine. */
const AT_LATEST_MS = 120_000;
const ENDED_WITHIN_MS = 300;

/** @param {import('./fault-bench.mjs').FaultBench} bench @returns {Promise<KillPoint[]>} */
export function countInsertPoints(bench) {
  return countPoints(bench.store.pid, COMMIT_CALLS, {
    isPoint: ({ path }) => path.startsWith(bench.storeDirectory),
    work: () => appendAndSee(bench),
  });
}

/** @param {import('./fault-bench.mjs').FaultBench} bench @returns {Promise<KillPoint[]>} */
export function countMergePoints(bench) {
  return countPoints(bench.store.pid, COMMIT_CALLS, {
    isPoint: ({ path }) => path.startsWith(bench.storeDirectory),
    before: () => appendAndSee(bench),
    work: () => merge(bench),
  });
}

/** @param {import('./fault-bench.mjs').FaultBench} bench @returns {Promise<KillPoint[]>} */
export async function countDeletionPoints(bench) {
  const runId = await bench.appendOtherRun(EPISODES_PER_KILL);
  return countPoints(bench.store.pid, COMMIT_CALLS, {
    isPoint: ({ path }) => path.startsWith(bench.storeDirectory),
    work: () => bench.deleteRun(runId),
  });
}

/** @param {import('./fault-bench.mjs').FaultBench} bench @returns {Promise<KillPoint[]>} */
export function countSinkPoints(bench) {
  const log = bench.logJob.kind === 'lmdb' ? bench.logJob.path : 'no path';
  return countPoints(bench.sinks[0].pid, SINK_CALLS, {
    isPoint: ({ path }) => path.startsWith(log) || path.startsWith('socket:'),
    work: () => appendAndSee(bench),
  });
}

/** Kills the store in the middle of an insert. @param {import('./fault-bench.mjs').FaultBench} bench @param {KillPoint} point */
export async function killStoreInInsert(bench, point) {
  const kill = await killAtOrBefore(bench.store, point, { work: () => appendAndSee(bench) });
  await bench.restartStore();
  await bench.untilVisible();
  return { ...kill, audit: await bench.audit() };
}

/** Kills the store in the middle of a merge. @param {import('./fault-bench.mjs').FaultBench} bench @param {KillPoint} point */
export async function killStoreInMerge(bench, point) {
  const kill = await killAtOrBefore(bench.store, point, {
    before: () => appendAndSee(bench),
    work: () => merge(bench),
  });
  await bench.restartStore();
  const before = await bench.audit();
  // The next merge must not take a half-written part for a whole one either.
  await merge(bench);
  const after = await bench.audit();
  return { ...kill, audit: { ...after, faults: [...before.faults, ...after.faults] } };
}

/** Kills the store while a run is deleted, then deletes the run again. @param {import('./fault-bench.mjs').FaultBench} bench @param {KillPoint} point */
export async function killStoreInDeletion(bench, point) {
  let runId = '';
  const kill = await killAtOrBefore(bench.store, point, {
    before: async () => {
      runId = await bench.appendOtherRun(EPISODES_PER_KILL);
    },
    work: () => bench.deleteRun(runId),
  });
  await bench.restartStore();
  await bench.untilVisible();
  await bench.deleteRun(runId);
  return { ...kill, audit: await bench.audit() };
}

/** Kills the sink in the middle of a request or cursor commit. @param {import('./fault-bench.mjs').FaultBench} bench @param {KillPoint} point */
export async function killSink(bench, point) {
  const [sink] = bench.sinks;
  const kill = await killAtOrBefore(sink, point, {
    work: async () => {
      await bench.appendEpisodes(EPISODES_PER_KILL, { pauseMs: 20 });
      const visible = bench.untilVisible();
      visible.catch(() => undefined);
      await Promise.race([visible, sink.ended]);
    },
  });
  await sink.end();
  bench.sinks = bench.sinks.filter((each) => each !== sink);
  await bench.startSink();
  await bench.untilVisible();
  return { ...kill, audit: await bench.audit() };
}

/**
 * Takes `count` points, evenly spread, or all where there are no more.
 *
 * @template T
 * @param {readonly T[]} points
 * @param {number} count
 */
export function sampleEvenly(points, count) {
  if (points.length <= count) return [...points];
  return Array.from({ length: count }, (_, i) => points[Math.floor((i * points.length) / count)]);
}

/**
 * Orders the points so that every prefix is evenly spread over them: by the reversed bits of their place.
 *
 * @template T
 * @param {readonly T[]} points
 */
export function spreadEvenly(points) {
  const numBits = Math.ceil(Math.log2(Math.max(points.length, 2)));
  const places = Array.from({ length: 2 ** numBits }, (_, i) =>
    Number.parseInt([...i.toString(2).padStart(numBits, '0')].reverse().join(''), 2),
  );
  return places.filter((place) => place < points.length).map((place) => points[place]);
}

/** Counts the kills by the kind of file that they hit. @param {readonly KillOutcome[]} outcomes */
export function countHits(outcomes) {
  /** @type {Record<string, number>} */
  const counts = {};
  for (const { hit } of outcomes) counts[hit] = (counts[hit] ?? 0) + 1;
  return counts;
}

async function countPoints(pid, calls, { isPoint, before, work }) {
  await before?.();
  const strace = await Strace.attach(pid, calls);
  await work();
  const made = (await strace.detach()).filter(isPoint);
  const keys = new Set(made.map(({ name, nth }) => `${name} ${nth}`));
  return [...keys].sort().map((key) => {
    const [name, nth] = key.split(' ');
    return { name, nth: Number(nth) };
  });
}

/**
 * Kills at the point, or, where no thread reaches it because the threads share the work differently each time, repeats the work and
 * kills at half that number.
 *
 * @param {{ pid: number, ended: Promise<unknown> }} target
 * @param {KillPoint} point
 * @param {{ before?: () => Promise<void>, work: () => Promise<unknown> }} acts
 */
async function killAtOrBefore(target, { name, nth }, { before, work }) {
  await before?.();
  const hit = await killAt(target, { name, nth }, work);
  return hit === '' && nth > 1
    ? killAtOrBefore(target, { name, nth: Math.floor(nth / 2) }, { before, work })
    : { point: `${name} ${nth}`, hit };
}

/** Works until the process dies at the point or all work is done. Returns the call and the kind of file, or '' when the process survived. */
async function killAt({ pid, ended }, { name, nth }, work) {
  const strace = await Strace.attach(pid, [name], `signal=SIGKILL:when=${nth}`);
  const done = work().then(
    () => undefined,
    () => ended,
  );
  const calls = await strace.detachAfter(Promise.race([ended, done]), AT_LATEST_MS);
  // The work may continue without the process that died.
  await done;
  const hasDied = (await Promise.race([ended, sleep(ENDED_WITHIN_MS, 'alive')])) !== 'alive';
  return hasDied ? `${name} ${fileKind(calls[calls.length - 1]?.path ?? '')}` : '';
}

async function appendAndSee(bench) {
  await bench.appendEpisodes(EPISODES_PER_KILL, { pauseMs: 20 });
  await bench.untilVisible();
}

function merge(bench) {
  return bench.client.command('OPTIMIZE TABLE events FINAL');
}

/** Returns a file's name without numbers, in its kind of directory: `tmp_insert/data.bin`. */
function fileKind(path) {
  const parts = path.replace(/\/$/, '').split('/');
  const kinds = parts
    .slice(-2)
    .map((part) =>
      part.replace(/_all_\d+_\d+_\d+.*|^all_\d+_\d+_\d+.*|[-:[]?[0-9a-f]{8}-.*|:?\[\d+\]/, (match) =>
        match.startsWith('all') ? 'part' : '',
      ),
    );
  return path.includes('/') ? kinds.filter((kind) => kind !== '').join('/') : kinds[kinds.length - 1];
}
