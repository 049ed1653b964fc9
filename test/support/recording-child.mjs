/**
 * A process that records episodes of ten steps, two hundred in a second, until it is killed:
 * `node recording-child.mjs URL SPOOL RUN PREFIX`. It prints the number of acknowledged records whenever it changes.
 */
import { Retrace } from '@retrace/client';

const [url, spool, id, prefix] = process.argv.slice(2);
const retrace = new Retrace({ url, spool, lingerMs: 5, maxBatchRecords: 20, onError: () => undefined });
const run = await retrace.startRun({ id, name: 'killed' });

let numEpisodes = 0;
let printed = 0;
globalThis.setInterval(() => {
  // Enough to be killed in their middle.
  if (numEpisodes === 200) return;
  const episode = run.episode({ externalId: `${prefix}-${numEpisodes++}` });
  for (let step = 0; step < 10; step++)
    episode.step({ observation: 'o'.repeat(200), action: `${prefix} ${step}` });
  episode.reward({ name: 'score', value: 1 });
  episode.end({ success: true });
  const { numAcknowledged } = retrace.stats;
  if (numAcknowledged !== printed) console.log((printed = numAcknowledged));
}, 5);
