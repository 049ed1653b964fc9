/**
 * Injects a seeded random mix of faults into the LMDB log and the log on Kafka, each with a store, and audits after every few faults
 * and at the end. The same seed gives the same schedule. On failure it prints the seed and the faults so far, and exits with 1.
 *
 *   npm run soak -- --minutes 2 --seed 7     (records its figures in docs/results; `node test/long/soak.mjs` does not)
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { buildIfStale } from '../../scripts/build-if-stale.mjs';
import { startBroker } from '@retrace/log/kafka-broker';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
if (!(minutes > 0) || !Number.isInteger(seed)) {
  console.error(
    `--minutes is ${values.minutes} and --seed ${values.seed}; must be a number above 0 and an integer`,
  );
  process.exit(1);
}
await buildIfStale();
const { FaultBench } = await import('../support/fault-bench.mjs');
const { LIMITABLE, soak } = await import('../support/soak.mjs');

const broker = await startBroker();
const hasBroker = !('unavailable' in broker);
console.log(`soak of ${minutes} minutes, seed ${seed}`);
if (!hasBroker) console.log(`Kafka: skipped, because ${broker.unavailable}`);
const pairs = hasBroker ? ['lmdb', 'kafka'] : ['lmdb'];

const figures = [];
for (const pair of pairs) {
  const bench = await FaultBench.open({
    storeOptions: { prefix: LIMITABLE },
    ...(pair === 'kafka' && { broker }),
  });
  try {
    const lastsMs = (minutes * 60_000) / pairs.length;
    const result = await soak(bench, { seed, lastsMs, onLine: (line) => console.log(`${pair}: ${line}`) });
    const { numFaults, numSkipped, numAudits, audit } = result;
    console.log(
      `${pair}: passed; ${numFaults} faults (${numSkipped} skipped), ${numAudits} audits, ${audit.numEvents} events, ` +
        `${audit.numSealedEpisodes} sealed episodes, ${audit.numConflicts} conflicts`,
    );
    figures.push(
      { name: `${pair}: faults done`, value: numFaults },
      { name: `${pair}: faults skipped`, value: numSkipped },
      { name: `${pair}: audits`, value: numAudits },
      { name: `${pair}: events`, value: audit.numEvents },
      { name: `${pair}: what the audits found`, value: audit.faults.length },
    );
  } catch (error) {
    console.error(`${pair}: FAILED, seed ${seed}: ${error.message}`);
    console.error(`Faults so far, on ${pair}:\n  ${(error.done ?? []).join('\n  ')}`);
    console.error(`To repeat: npm run soak -- --minutes ${minutes} --seed ${seed}`);
    process.exitCode = 1;
    figures.push(
      { name: `${pair}: faults done until it failed`, value: error.done?.length ?? 0 },
      { name: `${pair}: failed`, value: error.message.split('\n')[0] },
    );
  } finally {
    await bench.close();
  }
}
await broker.close?.();
if (process.env.RETRACE_RESULT_FILE) {
  const title = `Random faults for ${minutes} minutes (seed ${seed})`;
  writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title, figures }));
}
