import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, kill, runRetrace, startRetrace } from './cli.mjs';

/** Longest time for roles to outlive their supervisor, and for a role to be started again. */
const PATIENCE_MS = 20_000;

/**
 * `tree` kills everything at once; `supervisor` only the supervisor, after which its roles must exit by themselves; `stop` sends
 * SIGTERM, which must lead to exit code 0; the others kill one role.
 *
 * @typedef {object} Kill
 * @property {'tree' | 'supervisor' | 'stop' | 'store' | 'sink' | 'api' | 'collector' | 'collector-2' | 'validator' | 'trainer' | 'trainer+collector'} target
 * @property {number} [afterUpdate] Waits for this update or a later one; 0 = for the run to start or resume.
 * @property {number} [duringValidation] In place of it: waits until the validation of this policy version begins.
 * @property {number} delayMs From then to the kill.
 */

/**
 * A run's summary, and the numbers of the updates that were printed, in that order.
 *
 * @typedef {{ runId: string, numUpdates: number, weightsSha256: string, metrics: Record<string, number>, updatesTold: number[] }} KilledRun
 */

/**
 * Trains until the run ends, with kills in between (SIGKILL): of a role, which the supervisor restarts, or of the supervisor, which
 * is then started again and must resume its run.
 *
 * @param {readonly string[]} args Arguments of `retrace train`.
 * @param {readonly Kill[]} kills In this order.
 * @param {{ withinMs: number, command?: 'train' | 'up', storeAwayUntil?: number, onKill?: (description: string) => void }} options `up` has the
 *   role `api` with the sink in it, `train` (default) the role `sink`. Until update `storeAwayUntil` the store is killed whenever it lives.
 * @returns {Promise<KilledRun>}
 */
export async function trainWithKills(
  args,
  kills,
  { withinMs, command = 'train', storeAwayUntil = 0, onKill = () => undefined },
) {
  const start = () =>
    startRetrace([command, ...args, ...(command === 'up' ? ['--port', '0'] : []), '--json']);
  let session = start();
  const sessions = [session];
  const away = keepStoreAway(() => session, storeAwayUntil);
  try {
    for (const { target, afterUpdate = 0, duringValidation, delayMs } of kills) {
      const [moment, pattern] =
        duringValidation === undefined
          ? [`update ${afterUpdate}`, updateFrom(afterUpdate)]
          : [
              `the start of the validation of policy ${duringValidation}`,
              new RegExp(`validating policy ${duringValidation} · validation`),
            ];
      await session.waitFor(pattern, withinMs);
      await sleep(delayMs);
      onKill(`${target}, ${delayMs} ms after ${moment}`);
      if (target === 'tree' || target === 'supervisor' || target === 'stop') {
        await end(session, target);
        session = start();
        sessions.push(session);
        await session.waitFor(/resuming /, withinMs);
      } else {
        kill(await pidOf(session, target));
      }
    }
    const summary =
      command === 'up' ? await stopServing(session, args, withinMs) : await endOf(session, withinMs);
    const updatesTold = sessions
      .flatMap(({ lines }) => lines)
      .flatMap((line) => /update (\d+) · /.exec(line)?.[1] ?? [])
      .map(Number);
    return { ...summary, updatesTold };
  } finally {
    await session.killTree();
    await away;
  }
}

/**
 * Kills the store whenever it lives, until an update is told or the session has ended.
 *
 * @param {() => import('./cli.mjs').Session} session
 * @param {number} untilUpdate
 */
async function keepStoreAway(session, untilUpdate) {
  const isOver = () => session().lines.some((line) => updateFrom(untilUpdate).test(line));
  while (untilUpdate > 0 && !isOver() && isAlive(session().pid)) {
    const pid = session().roles().store;
    if (pid !== undefined && isAlive(pid)) kill(pid);
    await sleep(50);
  }
}

/**
 * Returns the summary that `retrace train` prints when its run ends.
 *
 * @param {import('./cli.mjs').Session} session
 * @param {number} withinMs
 */
async function endOf(session, withinMs) {
  const code = await Promise.race([session.ended, sleep(withinMs, 'too late', { ref: false })]);
  const last = session.lines.findLast((line) => line.startsWith('{"runId"'));
  if (code === 0 && last !== undefined) return JSON.parse(last);
  throw new Error(`The run did not finish (${code}):\n${session.lines.slice(-40).join('\n')}`);
}

/**
 * Returns the same summary for a run under `retrace up`, which continues serving, from the store.
 *
 * @param {import('./cli.mjs').Session} session
 * @param {readonly string[]} args
 * @param {number} withinMs
 */
async function stopServing(session, args, withinMs) {
  await session.waitFor(/the run has finished; still serving/, withinMs);
  await end(session, 'stop');
  const query = `SELECT run_id AS runId, max(update_number) AS numUpdates, argMax(weights_sha256, policy_version) AS weightsSha256,
    (SELECT max(value) FROM metrics WHERE name = 'test/success') AS testSuccess FROM policies GROUP BY run_id`;
  const directory = args.slice(args.indexOf('--data-dir'), args.indexOf('--data-dir') + 2);
  const { stdout } = await runRetrace(['sql', query, '--json', ...directory]);
  const [{ testSuccess, ...run }] = JSON.parse(stdout);
  return { ...run, numUpdates: Number(run.numUpdates), metrics: { 'test/success': testSuccess } };
}

/**
 * @param {import('./cli.mjs').Session} session
 * @param {'tree' | 'supervisor' | 'stop'} how
 */
async function end(session, how) {
  if (how === 'tree') return session.killTree();
  if (how === 'stop') {
    const code = await session.stop('SIGTERM');
    if (code !== 0) throw new Error(`SIGTERM ended the run with code ${code}`);
    return;
  }
  const pids = Object.values(session.roles());
  kill(session.pid);
  await session.ended;
  const deadline = Date.now() + PATIENCE_MS;
  while (pids.some(isAlive)) {
    if (Date.now() > deadline) throw new Error(`roles outlived their supervisor by ${PATIENCE_MS} ms`);
    await sleep(50);
  }
}

/**
 * Returns the role's process id once it runs.
 *
 * @param {import('./cli.mjs').Session} session
 * @param {string} role
 */
async function pidOf(session, role) {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const pid = session.roles()[role];
    if (pid !== undefined) return pid;
    if (Date.now() > deadline) throw new Error(`no role ${role} to kill within ${PATIENCE_MS} ms`);
    await sleep(50);
  }
}

/**
 * Matches the line of that update or of one of the thousand after it, because a resumed run does not repeat its lines.
 *
 * @param {number} first
 */
function updateFrom(first) {
  if (first === 0) return /"role":"run"/;
  const numbers = Array.from({ length: 1000 }, (_, i) => first + i);
  return new RegExp(`update (?:${numbers.join('|')}) `);
}

/**
 * Returns a source of numbers in [0, 1) from a seed, so that a drill that fails can be repeated (xorshift32).
 *
 * @param {number} seed
 */
export function seededRandom(seed) {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
}
