/** Runs a sink as a process of a test: `node sink-program.mjs <SinkJob as JSON>`; stops in order on SIGTERM. */
import { createStoreClient, Sink } from '@retrace/store';
import { openKafkaLog } from '@retrace/log/kafka';
import { openLmdbLog } from '@retrace/log/lmdb';
import { mutate } from './sink-mutations.mjs';

/** @type {import('./sink-child.mjs').SinkJob} */
const job = JSON.parse(process.argv[2]);
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
// The parent process has exited.
process.once('disconnect', () => process.exit(1));

const log =
  job.log.kind === 'lmdb'
    ? await openLmdbLog({ path: job.log.path, createdBy: 'fault matrix' })
    : await openKafkaLog({ createdBy: 'fault matrix', ...job.log.options });
const client = createStoreClient({ requestTimeoutMs: 10_000, ...job.store });
const parts = mutate({ log, client }, job.mutation);
const running = new Sink(job.options).run({
  ...parts,
  signal: stop.signal,
  share: job.share,
  onNotice: (line) => console.error(line),
});
process.send?.('running');
try {
  await running;
  await client.close();
  await log.close();
  process.exit(0);
} catch (error) {
  console.error(error.code, error.message);
  process.exit(2);
}
