import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from './kill-drill.mjs';
import { FAULT_KINDS, whySkipped } from './soak-faults.mjs';

/** Cuts a write beyond the limit of the file's size short, as a full disk does; without the trap the process would be killed. */
export const LIMITABLE = ['bash', '-c', `trap '' XFSZ; exec "$0" "$@"`];

const FAULTS_PER_AUDIT = 5;
const VISIBLE_WITHIN_MS = 60_000;
const MAX_AUDIT_ATTEMPTS = 5;

/** A soak that failed, with the faults up to then. */
export class SoakFailure extends Error {
  /** @param {string} message @param {readonly string[]} done */
  constructor(message, done) {
    super(message);
    this.done = done;
  }
}

/**
 * Yields faults in the seed's order, without end.
 *
 * @param {number} seed
 */
export function* planFaults(seed) {
  const random = drawFrom(seed);
  for (let number = 1; ; number += 1) {
    const kind = random.oneOf(FAULT_KINDS);
    yield { number, kind, drawn: kind.draw(random), pauseMs: random.integer(0, 500) };
  }
}

/**
 * Injects faults into one log and its store while producers append, and audits after every few faults and at the end.
 *
 * @param {import('./fault-bench.mjs').FaultBench} bench
 * @param {{ seed: number, lastsMs: number, onLine: (line: string) => void }} options
 * @returns {Promise<{ numFaults: number, numSkipped: number, numAudits: number, audit: import('./store-audit.mjs').Audit }>}
 * @throws SoakFailure
 */
export async function soak(bench, { seed, lastsMs, onLine }) {
  const endMs = performance.now() + lastsMs;
  /** @type {string[]} */
  const done = [];
  let numSkipped = 0;
  let numAudits = 0;
  let producers = startProducers(bench, seed);
  try {
    await heal(bench);
    for (const { number, kind, drawn, pauseMs } of planFaults(seed)) {
      if (performance.now() > endMs) break;
      const line = `${number}. ${kind.name} ${JSON.stringify(drawn)}`;
      const skipped = whySkipped(kind, bench.logJob.kind);
      done.push(skipped === null ? line : `${line}: skipped, because ${skipped}`);
      onLine(done[done.length - 1]);
      if (skipped !== null) {
        numSkipped += 1;
        continue;
      }
      await kind.run(bench, drawn).catch((error) => {
        // The store may exit by itself after a full disk; a fault that can't run then is no finding.
        if (!error.retriable && !hasEnded(bench.store.child)) throw error;
        onLine(`${number}. was cut short: ${error.message}`);
      });
      await sleep(pauseMs);
      await heal(bench);
      if (number % FAULTS_PER_AUDIT !== 0) continue;
      await producers.stop();
      const { numEvents, numRepeatedRows } = await auditNow(bench);
      numAudits += 1;
      onLine(`audit ${numAudits}: ${numEvents} events, no fault; ${numRepeatedRows} rows repeated`);
      producers = startProducers(bench, seed + number);
    }
    await producers.stop();
    const audit = await auditNow(bench);
    return { numFaults: done.length - numSkipped, numSkipped, numAudits: numAudits + 1, audit };
  } catch (error) {
    await producers.stop().catch(() => undefined);
    throw new SoakFailure(error instanceof Error ? error.message : String(error), done);
  }
}

/** Restarts processes that have exited, as a supervisor does: the store, and one sink over all partitions. */
async function heal(bench) {
  if (hasEnded(bench.store.child)) await bench.restartStore({ prefix: LIMITABLE });
  for (const sink of bench.sinks) {
    if (sink.child.exitCode === 2) throw new Error(`A sink gave up: ${sink.said}`);
  }
  const living = bench.sinks.filter(({ child }) => !hasEnded(child));
  // Keeps one sink for all partitions, as in production, and stops others that a fault left behind.
  const whole = living.find(({ isWhole }) => isWhole);
  bench.sinks = whole === undefined ? [] : [whole];
  if (whole === undefined) await bench.startSink();
  await Promise.all(living.filter((sink) => sink !== whole).map((sink) => sink.end('SIGTERM')));
}

function hasEnded({ exitCode, signalCode }) {
  return exitCode !== null || signalCode !== null;
}

/** Audits, and restarts the store where it exits only now because it detects the effect of a full disk. */
async function auditNow(bench) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await bench.untilVisible({ withinMs: VISIBLE_WITHIN_MS });
      const audit = await bench.audit();
      if (audit.faults.length === 0) return audit;
      const [unordered, ordered] = await Promise.all([0, 1].map((inOrder) => countSteps(bench, inOrder)));
      await sleep(3_000);
      const again = await bench.audit();
      throw new Error(
        `The audit found:\n  ${audit.faults.join('\n  ')}\nand 3 s later:\n  ${again.faults.join('\n  ') || 'nothing'}\nsteps counted in key order: ${ordered}, otherwise: ${unordered}`,
      );
    } catch (error) {
      if (!error.retriable || attempt === MAX_AUDIT_ATTEMPTS) throw error;
      await sleep(1_000);
      await heal(bench);
    }
  }
}

/** Counts steps in one of the engine's two ways to read sorted data; a difference between the two is a fault of the engine. */
async function countSteps({ client }, inOrder) {
  const sql = `SELECT count() AS n FROM steps SETTINGS optimize_read_in_order = ${inOrder}`;
  const [{ n }] = await client.queryRows(sql);
  return n;
}

/** Starts two producers that also repeat, reorder and contradict events; they append again what the log does not acknowledge. */
function startProducers(bench, seed) {
  let isStopped = false;
  const produce = async (random) => {
    while (!isStopped) {
      for (const events of episodeInPieces(bench, random)) {
        await appendUntilAcknowledged(bench, events);
        await sleep(random.integer(0, 40));
      }
    }
  };
  const running = [1, 2].map((number) => produce(drawFrom(seed * 2 + number)));
  // Errors are reported by `stop`, which awaits the producers.
  for (const each of running) each.catch(() => undefined);
  return {
    stop: async () => {
      isStopped = true;
      await Promise.all(running);
    },
  };
}

function episodeInPieces(bench, random) {
  const events = bench.newEpisode({ numSteps: random.integer(1, 12) });
  switch (random.oneOf(['whole', 'event by event', 'twice', 'backwards too', 'contradicted'])) {
    case 'event by event':
      return events.map((event) => [event]);
    case 'twice':
      return [events, events];
    case 'backwards too':
      return [events, [...events].reverse()];
    case 'contradicted':
      return [events.slice(0, 2), events.map(withOtherAction), events.slice(2)];
    default:
      return [events];
  }
}

/** Returns a step event with another action, and other events unchanged. */
export function withOtherAction(event) {
  if (event.kind !== 'StepRecorded') return event;
  return { ...event, payload: { ...event.payload, action: 'the other' } };
}

async function appendUntilAcknowledged(bench, events) {
  for (;;) {
    try {
      return await bench.append(events);
    } catch (error) {
      if (!error.retriable) throw error;
      await sleep(100);
    }
  }
}

/** @param {number} seed @returns {import('./soak-faults.mjs').Draw} */
function drawFrom(seed) {
  const random = seededRandom(seed);
  // Skips the first numbers, which are similar for neighbouring seeds.
  for (let i = 0; i < 20; i += 1) random();
  return {
    integer: (from, to) => from + Math.floor(random() * (to - from + 1)),
    oneOf: (values) => values[Math.floor(random() * values.length)],
  };
}
