import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from './kill-drill.mjs';
import { FAULT_KINDS, whySkipped } from './soak-faults.mjs';

/** A write beyond a limit of the file's size is cut short, as on a full disk; without the trap it would end the process. */
export const LIMITABLE = ['bash', '-c', `trap '' XFSZ; exec "$0" "$@"`];

const FAULTS_PER_AUDIT = 5;
const VISIBLE_WITHIN_MS = 60_000;
const MAX_AUDIT_ATTEMPTS = 5;

/** What was done and what came of it. */
export class SoakFailure extends Error {
  /** @param {string} message @param {readonly string[]} done */
  constructor(message, done) {
    super(message);
    this.done = done;
  }
}

/**
 * Faults in the order that the seed gives, without end.
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
 * Does faults on one log and its store while producers append, and audits after every few of them and at the end.
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
        // The store may end by itself after a disk was full; what a fault then can't do is no finding.
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

/** What a supervisor does: starts again what has ended, a store and one sink over all partitions at least. */
async function heal(bench) {
  if (hasEnded(bench.store.child)) await bench.restartStore({ prefix: LIMITABLE });
  for (const sink of bench.sinks) {
    if (sink.child.exitCode === 2) throw new Error(`a sink gave up: ${sink.said}`);
  }
  const living = bench.sinks.filter(({ child }) => !hasEnded(child));
  // One for all partitions, as the product has it; those that a fault left behind otherwise go.
  const whole = living.find(({ isWhole }) => isWhole);
  bench.sinks = whole === undefined ? [] : [whole];
  if (whole === undefined) await bench.startSink();
  await Promise.all(living.filter((sink) => sink !== whole).map((sink) => sink.end('SIGTERM')));
}

function hasEnded({ exitCode, signalCode }) {
  return exitCode !== null || signalCode !== null;
}

/** The store may end by itself as late as now, when it finds what a full disk did; as with any other end it is started again. */
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
        `the audit found:\n  ${audit.faults.join('\n  ')}\nand 3 s later:\n  ${again.faults.join('\n  ') || 'nothing'}\nsteps counted in the order of the key: ${ordered}, otherwise: ${unordered}`,
      );
    } catch (error) {
      if (!error.retriable || attempt === MAX_AUDIT_ATTEMPTS) throw error;
      await sleep(1_000);
      await heal(bench);
    }
  }
}

/** The engine has two ways to read what is sorted; a difference between them is its own fault. */
async function countSteps({ client }, inOrder) {
  const sql = `SELECT count() AS n FROM steps SETTINGS optimize_read_in_order = ${inOrder}`;
  const [{ n }] = await client.queryRows(sql);
  return n;
}

/** Two producers that also repeat, reorder and contradict; what the log doesn't acknowledge they append again. */
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
  // Awaited when they are stopped.
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

/** Another account of the same step, in every event that is one. */
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
  // Seeds that are near each other begin alike.
  for (let i = 0; i < 20; i += 1) random();
  return {
    integer: (from, to) => from + Math.floor(random() * (to - from + 1)),
    oneOf: (values) => values[Math.floor(random() * values.length)],
  };
}
