import { setTimeout as sleep } from 'node:timers/promises';
import { kill, startRetrace } from './cli.mjs';

/**
 * @typedef {object} Kill
 * @property {'tree' | 'store' | 'sink' | 'collector' | 'collector-2' | 'trainer'} target
 * @property {number} afterUpdate Waits for this update or a later one; 0 = for the run to start or go on.
 * @property {number} delayMs From then to the kill.
 */

/**
 * Trains to the end with kill -9 in between: of the whole tree, which is then started again, or of one role, which the
 * supervisor starts again. Resolves with the run's summary.
 *
 * @param {readonly string[]} args Arguments of `retrace train`.
 * @param {readonly Kill[]} kills In this order.
 * @param {{ withinMs: number, onKill?: (description: string) => void }} options
 * @returns {Promise<{ runId: string, numUpdates: number, weightsSha256: string, metrics: Record<string, number> }>}
 */
export async function trainWithKills(args, kills, { withinMs, onKill = () => undefined }) {
  let session = startRetrace(['train', ...args, '--json']);
  try {
    for (const { target, afterUpdate, delayMs } of kills) {
      await session.waitFor(updateFrom(afterUpdate), withinMs);
      await sleep(delayMs);
      onKill(`${target}, ${delayMs} ms after update ${afterUpdate}`);
      if (target === 'tree') {
        await session.killTree();
        session = startRetrace(['train', ...args, '--json']);
      } else {
        const pid = session.roles()[target];
        if (pid !== undefined) kill(pid);
      }
    }
    const code = await Promise.race([session.ended, sleep(withinMs, 'too late', { ref: false })]);
    const last = session.lines.findLast((line) => line.startsWith('{"runId"'));
    if (code !== 0 || last === undefined) {
      throw new Error(`the run did not finish (${code}):\n${session.lines.slice(-40).join('\n')}`);
    }
    return JSON.parse(last);
  } finally {
    await session.killTree();
  }
}

/**
 * Matches the line of that update or of one of the thousand after it: a run that goes on doesn't repeat its lines.
 *
 * @param {number} first
 */
function updateFrom(first) {
  if (first === 0) return /"role":"run"/;
  const numbers = Array.from({ length: 1000 }, (_, i) => first + i);
  return new RegExp(`update (?:${numbers.join('|')}) `);
}

/**
 * Numbers in [0, 1) from a seed, so that a drill that fails can be made again (xorshift32).
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
