/**
 * Checks that memory does not grow with the number of events: measures the anonymous resident memory of the collector's writer (this
 * process), the sink and the store while episodes of 8 events (6 steps of 1 kB random text and 256 tokens) go through them at full
 * speed. After the first third, which warms up, the medians of the next and the last sixth of the samples may differ by at most 10 %.
 *
 *   npm run test:long -- ingest-memory [-- --events 1000000 --minutes 60 --log kafka --small]
 *
 * It stops after the number of events or the minutes, whichever comes first, and prints how many events passed. Ten million take 25 GB
 * of disk; with --small, as rewards of 156 bytes, 3 GB.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { TrajectoryWriter } from '@retrace/collector';
import { createStoreClient, migrate } from '@retrace/store';
import { openLog } from '@retrace/log';
import { FigureTable } from '../../bench/figure-table.mjs';
import { anonymousMiB, startRole, STORE_USER } from '../../bench/pipeline-processes.mjs';
import { EpisodeSource, RewardSource } from '../../bench/sample-episodes.mjs';
import { WrittenPipeline } from '../../bench/written-pipeline.mjs';
import { startBroker } from '@retrace/log/kafka-broker';
import { median } from '../../bench/timing.mjs';

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000000' },
    minutes: { type: 'string', default: 'Infinity' },
    log: { type: 'string', default: 'lmdb' },
    small: { type: 'boolean', default: false },
  },
});
const numEvents = Number(values.events);
const maxMs = Number(values.minutes) * 60_000;
const MIN_SAMPLES = 180;
const MAX_EVENTS_A_SAMPLE = 8_000;
const ALLOWED_GROWTH = 0.1;

const directory = mkdtempSync(join(tmpdir(), 'retrace-ingest-memory-'));
const broker = values.log === 'kafka' ? await startBroker() : null;
if (broker && 'unavailable' in broker) throw new Error(`No Kafka broker: ${broker.unavailable}`);
const location = broker
  ? { kind: 'kafka', brokers: [broker.addresses.plaintext], numTrajectoryPartitions: 1 }
  : { kind: 'lmdb', path: join(directory, 'log') };
const store = await startRole('store', join(directory, 'store'));
const client = createStoreClient({ url: store.first.url, ...STORE_USER });
await migrate(client);
const log = await openLog(location, 'test');
const sink = await startRole('sink', JSON.stringify({ log: location, storeUrl: store.first.url }));
const writer = await TrajectoryWriter.open(log);
const pipeline = new WrittenPipeline({
  log,
  writer,
  sink,
  Source: values.small ? RewardSource : EpisodeSource,
});

const pids = { 'collector’s writer': process.pid, sink: sink.pid, store: store.pid };
const samples = Object.fromEntries(Object.keys(pids).map((role) => [role, []]));
const startedAt = performance.now();
const eventsPerSample = Math.min(numEvents / MIN_SAMPLES, MAX_EVENTS_A_SAMPLE);
const episodesPerSample = Math.ceil(eventsPerSample / pipeline.source.eventsPerEpisode);
while (pipeline.written < numEvents && performance.now() - startedAt < maxMs) {
  await pipeline.writeEpisodes(episodesPerSample);
  pipeline.latenciesMs.length = 0;
  for (const [role, pid] of Object.entries(pids)) samples[role].push(anonymousMiB(pid));
}
await pipeline.drain();
const seconds = (performance.now() - startedAt) / 1000;
const [{ events }] = await client.queryRows(
  'SELECT count() AS events FROM events WHERE run_id = {runId:String}',
  { params: { runId: pipeline.runId } },
);
if (events !== pipeline.written)
  throw new Error(`The store has ${events} events; expected the ${pipeline.written} acknowledged ones`);
await client.close();
await sink.stop();
await store.stop();
await log.close();
await broker?.close();
rmSync(directory, { recursive: true });

const table = new FigureTable(
  `Memory while ${pipeline.written.toLocaleString('en')} ${values.small ? 'small ' : ''}events pass, log on ${values.log}`,
);
table.add('events from write to visible', pipeline.written / seconds, 'events/s');
for (const [role, list] of Object.entries(samples)) {
  const sixth = Math.floor(list.length / 6);
  const early = median(list.slice(2 * sixth, 3 * sixth));
  const late = median(list.slice(-sixth));
  table.add(`${role}: anonymous memory after a third of the events`, early, 'MiB');
  table.add(`${role}: anonymous memory at the end`, late, 'MiB');
  table.add(
    `${role}: growth`,
    (100 * (late - early)) / early,
    '%',
    { most: 100 * ALLOWED_GROWTH },
    { required: true },
  );
}
table.save();
