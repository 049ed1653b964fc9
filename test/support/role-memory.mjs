import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const ALLOWED_GROWTH = 0.1;
const ALLOWED_GROWTH_MI_B = 64;

/**
 * The anonymous resident memory of each child process of a session, which a leak grows, sampled until `stop`. After the first third, which
 * warms up caches and heaps, the means of the next and the last sixth may differ by at most 10 % or 64 MiB, whichever is more.
 */
export class RoleMemory {
  /** @type {Record<string, number[]>} MiB, by role */
  #samples = {};
  #stopping = new AbortController();
  /** @type {Promise<void>} */
  #sampling;

  /**
   * @param {import('./cli.mjs').Session} session its roles run already
   * @param {{ everyMs: number }} options
   */
  constructor(session, { everyMs }) {
    this.pids = session.roles();
    for (const role of Object.keys(this.pids)) this.#samples[role] = [];
    this.#sampling = this.#sample(everyMs);
  }

  /** @returns {Promise<{ isFlat: boolean, figures: { name: string, value: number, unit: string }[] }>} */
  async stop() {
    this.#stopping.abort();
    await this.#sampling;
    const figures = [];
    let isFlat = true;
    for (const [role, list] of Object.entries(this.#samples)) {
      const sixth = Math.floor(list.length / 6);
      const early = mean(list.slice(2 * sixth, 3 * sixth));
      const late = mean(list.slice(-sixth));
      const isRoleFlat = late - early <= Math.max(ALLOWED_GROWTH * early, ALLOWED_GROWTH_MI_B);
      if (!isRoleFlat) isFlat = false;
      console.log(
        `${role.padEnd(10)} ${early.toFixed(0)} → ${late.toFixed(0)} MiB${isRoleFlat ? '' : '  GROWS'}`,
      );
      figures.push(
        { name: `${role}: anonymous memory after a third of the time`, value: early, unit: 'MiB' },
        { name: `${role}: anonymous memory at the end`, value: late, unit: 'MiB' },
      );
    }
    return { isFlat, figures };
  }

  /** @param {number} everyMs */
  async #sample(everyMs) {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await sleep(everyMs, undefined, { signal }).catch(() => undefined);
      for (const [role, pid] of Object.entries(this.pids)) {
        const size = anonymousMiB(pid);
        if (size !== null) this.#samples[role].push(size);
      }
    }
  }
}

/**
 * Returns null for a process that has ended.
 *
 * @param {number} pid
 */
function anonymousMiB(pid) {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const found = /RssAnon:\s+(\d+) kB/.exec(status);
    return found && Number(found[1]) / 1024;
  } catch {
    return null;
  }
}

/** @param {readonly number[]} list */
function mean(list) {
  return list.reduce((sum, value) => sum + value, 0) / list.length;
}
