/**
 * From an event to its acknowledgement: the collector's writer on the LMDB log, as a collector calls it, every event made, checked,
 * encoded, batched and durable when it counts. Steps of 1 kB random text and 256 tokens, then small events; and where the
 * time of this one process goes.
 *
 *   npm run bench -- writer [-- --seconds 6] [--partitions 1]
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { TrajectoryWriter } from '@retrace/collector';
import { episodeIdFor, newEpisodeEvent, newRunId } from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
import { openLmdbLog } from '@retrace/trajectory/lmdb';
import { FigureTable } from './figure-table.mjs';
import { EpisodeSource, STEP_BYTES, STEPS_PER_EPISODE, TOKENS_PER_STEP } from './sample-episodes.mjs';

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '6' }, partitions: { type: 'string', default: '1' } },
});
const measuredMs = Number(values.seconds) * 1000;
const SMALL_EVENTS_PER_TURN = 64;

/** The whole process and its threads: what encodes, and what LMDB and zlib do beside. */
function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function writtenBytes() {
  return Number(/^write_bytes: (\d+)/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
}

/** Events of the turns a second, until they are acknowledged; after a first second that counts for nothing. */
async function measure(log, turn) {
  const writer = await TrajectoryWriter.open(log);
  let next = 0;
  const during = async (durationMs) => {
    const startedAt = performance.now();
    let numEvents = 0;
    while (performance.now() - startedAt < durationMs) {
      for (const event of turn(next++)) {
        writer.write(event);
        numEvents++;
      }
      await writer.betweenTurns();
    }
    await writer.flush();
    return { numEvents, tookMs: performance.now() - startedAt };
  };
  await during(1_000);
  const cpuBefore = cpuMs();
  const bytesBefore = writtenBytes();
  const { numEvents, tookMs } = await during(measuredMs);
  return {
    eventsPerSecond: (1000 * numEvents) / tookMs,
    cpuUsPerEvent: (1000 * (cpuMs() - cpuBefore)) / numEvents,
    diskBytesPerEvent: (writtenBytes() - bytesBefore) / numEvents,
    waitedFraction: (1000 * writer.waitedSeconds) / tookMs,
  };
}

/** Rewards for the 64 steps of an episode, one episode a turn. */
function* smallEvents({ logId, runId }, ordinal) {
  const episodeId = episodeIdFor({ runId, ordinal });
  const occurredAtUs = Date.now() * 1000;
  for (let seq = 0; seq < SMALL_EVENTS_PER_TURN; seq++) {
    const payload = { step: seq, name: 'exact', value: seq % 2, source: 'bench', rationale: '' };
    yield newEpisodeEvent({ kind: 'RewardAssigned', logId, runId, episodeId, seq, occurredAtUs, payload });
  }
}

const directory = mkdtempSync(join(tmpdir(), 'retrace-bench-writer-'));
const table = new FigureTable('Appending: events to the durable log, through the collector’s writer');
try {
  const numTrajectoryPartitions = Number(values.partitions);
  const log = await openLmdbLog({
    path: join(directory, 'log'),
    createdBy: 'bench',
    numTrajectoryPartitions,
  });
  const ids = { logId: log.logId, runId: newRunId() };
  const source = new EpisodeSource(ids);

  const steps = await measure(log, (ordinal) => source.episode(ordinal));
  const stepsPerSecond = (steps.eventsPerSecond * STEPS_PER_EPISODE) / (STEPS_PER_EPISODE + 2);
  const recordBytes = encodeEvent([...source.episode(0)][1]).length;
  table.add('steps appended durably', stepsPerSecond, 'steps/s', { least: 20_000 });
  table.add('… their tokens', stepsPerSecond * TOKENS_PER_STEP, 'tokens/s');
  table.add(`… their columns, ${STEP_BYTES} bytes a step`, (stepsPerSecond * STEP_BYTES) / 1e6, 'MB/s', {
    least: 85,
  });
  table.add(`… their records, ${recordBytes} bytes a step`, (stepsPerSecond * recordBytes) / 1e6, 'MB/s');
  table.add('… CPU of all threads, an event', steps.cpuUsPerEvent, 'µs');
  table.add('… share of the time waiting for the log', 100 * steps.waitedFraction, '%');
  table.add('… written to the disk for it', steps.diskBytesPerEvent, 'bytes/event');

  const smallIds = { ...ids, runId: newRunId() };
  const small = await measure(log, (ordinal) => smallEvents(smallIds, ordinal));
  const smallBytes = encodeEvent(smallEvents(smallIds, 0).next().value).length;
  table.add(
    `small events (RewardAssigned, ${smallBytes} bytes) appended durably`,
    small.eventsPerSecond,
    'events/s',
    {
      least: 100_000,
    },
  );
  table.add('… CPU of all threads, an event', small.cpuUsPerEvent, 'µs');
  await log.close();
} finally {
  rmSync(directory, { recursive: true });
}
table.save();
