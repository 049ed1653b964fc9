import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeEvent, encodeEvent } from '@retrace/trajectory/codec';
import { createStoreClient, deleteRun, migrate, untilVisible } from '@retrace/store';
import { openKafkaLog } from '@retrace/log/kafka';
import { openLmdbLog } from '@retrace/log/lmdb';
import { newRunId } from '@retrace/trajectory';
import { choosePartition } from '@retrace/log';
import { controlEvent, episodeEvents } from '@retrace/trajectory/testing';
import { findFreePort } from '@retrace/process/free-port';
import { SinkChild, SMALL_BATCHES } from './sink-child.mjs';
import { auditStore } from './store-audit.mjs';
import { STORE_USER, StoreChild } from './store-child.mjs';

/** Longer than any wait of a test, so that only the sinks under test bring records into the store. */
const NO_HELP_MS = 600_000;

/**
 * The test bench of the fault matrix: an event log with a real store process, sink processes between them, and the ids of all
 * produced events.
 */
export class FaultBench {
  /** @type {Set<string>} */
  acknowledged = new Set();
  /** @type {Set<string>} */
  attempted = new Set();
  runId = newRunId();
  /** Runs whose deletion was requested. @type {Set<string>} */
  deletedRuns = new Set();
  /** @type {SinkChild[]} */
  sinks = [];
  /** @type {import('@retrace/log/kafka-broker').StartedBroker | undefined} */
  broker;
  /** Longest time for a sink to bring appended events, and for the store to answer it. */
  visibleWithinMs = 60_000;
  #numEpisodes = 0;

  /**
   * @param {{ directory: string, storeDirectory: string }} directories
   * @param {import('@retrace/log').EventLog} log
   * @param {import('./sink-child.mjs').SinkJob['log']} logJob
   * @param {StoreChild} store
   */
  constructor({ directory, storeDirectory }, log, logJob, store) {
    this.directory = directory;
    this.storeDirectory = storeDirectory;
    this.log = log;
    this.logJob = logJob;
    this.store = store;
    this.client = createStoreClient({ url: store.url, ...STORE_USER });
  }

  /**
   * @param {{ broker?: import('@retrace/log/kafka-broker').StartedBroker, storeDirectory?: string,
   *   storeOptions?: Parameters<typeof StoreChild.start>[1] }} [options] with `broker` the log is on Kafka, otherwise in LMDB
   */
  static async open({ broker, storeOptions, storeDirectory } = {}) {
    const directory = mkdtempSync(join(tmpdir(), 'retrace-faults-'));
    const directories = { directory, storeDirectory: storeDirectory ?? join(directory, 'store') };
    const { log, job } = await (broker === undefined ? openOwnLmdbLog(directory) : openOwnKafkaLog(broker));
    // A chosen port, because `restartStore` sometimes finds a port that the system assigned taken by another process.
    const port = await findFreePort();
    const store = await StoreChild.start(directories.storeDirectory, { port, ...storeOptions });
    const bench = new FaultBench(directories, log, job, store);
    bench.broker = broker;
    await migrate(bench.client);
    await bench.append([controlEvent({ logId: log.logId, runId: bench.runId }, 'RunStarted')]);
    return bench;
  }

  /**
   * Appends events of one episode, or control events, and records their ids as attempted and then as acknowledged.
   *
   * @param {readonly import('@retrace/trajectory').AnyEvent[]} events
   */
  async append(events) {
    const [{ runId, episodeId }] = events;
    for (const { eventId } of events) this.attempted.add(eventId);
    const [stream, partition] =
      episodeId === ''
        ? /** @type {const} */ (['control', 0])
        : /** @type {const} */ ([
            'trajectories',
            choosePartition(runId, episodeId, this.log.numPartitions('trajectories')),
          ]);
    await this.log.append(stream, partition, events.map(encodeEvent));
    for (const { eventId } of events) this.acknowledged.add(eventId);
  }

  /**
   * Appends whole episodes of this bench's run.
   *
   * @param {number} count
   * @param {{ numSteps?: number, pauseMs?: number, occurredAtUs?: number }} [options]
   */
  async appendEpisodes(count, { pauseMs = 0, ...spec } = {}) {
    for (let i = 0; i < count; i += 1) {
      await this.append(this.newEpisode(spec));
      if (pauseMs > 0) await sleep(pauseMs);
    }
  }

  /** @param {{ numSteps?: number, occurredAtUs?: number }} [spec] */
  newEpisode(spec = {}) {
    const ordinal = this.#numEpisodes++;
    return episodeEvents({ logId: this.log.logId, runId: this.runId, ordinal, ...spec });
  }

  /**
   * Appends another run of `count` episodes, to be deleted; the audit does not count it as produced.
   *
   * @param {number} count
   */
  async appendOtherRun(count) {
    const ids = { logId: this.log.logId, runId: newRunId() };
    await this.log.append('control', 0, [encodeEvent(controlEvent(ids, 'RunStarted'))]);
    for (let ordinal = 0; ordinal < count; ordinal += 1) {
      const events = episodeEvents({ ...ids, ordinal });
      const partition = choosePartition(
        ids.runId,
        events[0].episodeId,
        this.log.numPartitions('trajectories'),
      );
      await this.log.append('trajectories', partition, events.map(encodeEvent));
    }
    await this.untilVisible();
    return ids.runId;
  }

  /** Deletes a run beside running sinks, as `retrace runs delete` does; the events that this appends count as produced. @param {string} runId */
  async deleteRun(runId) {
    this.deletedRuns.add(runId);
    const from = await this.log.endOffset('control', 0);
    try {
      const bringUpToDate = () => this.untilVisible();
      await deleteRun({ ...this, runId, detail: 'fault matrix', force: false, bringUpToDate });
    } finally {
      for (const { bytes } of await this.log.read('control', 0, from)) {
        const decoded = decodeEvent(bytes);
        if (!decoded.ok) continue; // `verify` reports it.
        this.attempted.add(decoded.event.eventId);
        this.acknowledged.add(decoded.event.eventId);
      }
    }
  }

  /** Prefix of the log's topics; '' for a log without topics. */
  get kafkaPrefix() {
    return this.logJob.kind === 'kafka' ? this.logJob.options.prefix : '';
  }

  /** @param {Partial<import('./sink-child.mjs').SinkJob>} [job] @param {Parameters<typeof SinkChild.start>[1]} [options] */
  async startSink(job = {}, options = {}) {
    const store = { url: this.store.url, ...STORE_USER, requestTimeoutMs: this.visibleWithinMs / 6 };
    const sink = await SinkChild.start({ log: this.logJob, store, options: SMALL_BATCHES, ...job }, options);
    sink.isWhole = job.share === undefined && job.mutation === undefined;
    this.sinks.push(sink);
    return sink;
  }

  /** Ends the store and starts it again at the same address. @param {Parameters<typeof StoreChild.start>[1]} [options] */
  async restartStore(options = {}) {
    await this.store.end();
    const port = Number(new URL(this.store.url).port);
    this.store = await StoreChild.start(this.storeDirectory, { port, ...options });
  }

  /**
   * Resolves once the running sinks have brought everything into the store.
   *
   * @throws after `withinMs`
   *
   * @param {{ withinMs?: number }} [options]
   */
  async untilVisible({ withinMs = this.visibleWithinMs } = {}) {
    const visible = untilVisible(this.log, this.client, { stallMs: NO_HELP_MS });
    const late = sleep(withinMs, 'late', { ref: false });
    if ((await Promise.race([visible, late])) !== 'late') return;
    visible.catch(() => undefined);
    const said = this.sinks.map((sink) => sink.said).join('');
    throw new Error(
      `Not all events were visible within ${withinMs} ms; output of the sinks: ${said || 'none'}`,
    );
  }

  audit() {
    return auditStore({ log: this.log, client: this.client, produced: this });
  }

  async close() {
    await Promise.all(this.sinks.map((sink) => sink.end()));
    await this.client.close();
    await this.log.close();
    await this.store.end();
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
  }
}

/** @param {string} directory */
async function openOwnLmdbLog(directory) {
  const path = join(directory, 'log');
  const log = await openLmdbLog({ path, createdBy: 'fault matrix', numTrajectoryPartitions: 2 });
  return { log, job: /** @type {const} */ ({ kind: 'lmdb', path }) };
}

let numKafkaLogs = 0;

/** @param {import('@retrace/log/kafka-broker').StartedBroker} broker */
async function openOwnKafkaLog({ addresses }) {
  const prefix = `faults-${process.pid}-${Date.now()}-${(numKafkaLogs += 1)}.`;
  const options = { brokers: [addresses.plaintext], prefix, numTrajectoryPartitions: 3 };
  const log = await openKafkaLog({ createdBy: 'fault matrix', ...options });
  return { log, job: /** @type {const} */ ({ kind: 'kafka', options }) };
}
