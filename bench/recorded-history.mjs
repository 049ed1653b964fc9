/** A long history for the API and the page to show: many finished runs, one of them large, with an episode of 500 turns. Its events go into the log of a data directory. */
import { setTimeout as sleep } from 'node:timers/promises';
import { choosePartition } from '@retrace/log';
import { newRunId } from '@retrace/trajectory';
import { encodeEvent } from '@retrace/trajectory/codec';
import { controlEvent, episodeEvents, sampleStep } from '@retrace/trajectory/testing';

const STEPS_PER_EPISODE = 10;
const TOKENS_PER_STEP = 25;
const LONG_STEPS = 500;
const TOKENS_PER_LONG_STEP = 200;
const UPDATES_PER_RUN = 30;
const GROUP_SIZE = 8;
/** One in so many runs raises alarms. */
const RUNS_PER_ALARMED = 5;
const ALARM_RULES = ['entropyCollapse', 'clippedTokens', 'ratioDrift'];
/** How often an alarm is raised again. */
const TIMES_RAISED = 4;
/** Of all episodes in the largest run. */
const SHARE_OF_LARGEST = 0.5;
const RECORDS_PER_APPEND = 4_000;
/** Records that the sink may be behind, so that both work at one rate. */
const MAX_RECORDS_BEHIND = 40_000;
const PAUSE_MS = 200;

/** As many metrics as a trained run logs with each update. */
const METRICS = [
  ...['success', 'return', 'episodes', 'tokens', 'steps', 'responseLength'].map((name) => `rollout/${name}`),
  ...Array.from({ length: 34 }, (_, i) => `train/metric${i}`),
];

/** Writes the history into an open log, at the pace at which a store follows. */
export class RecordedHistory {
  /** Of each topic and partition, what is not appended yet. */
  #waiting = new Map();

  /** @param {{ log: import('@retrace/log').EventLog, readBehind: () => Promise<number> }} parts readBehind: how many records the store lacks */
  constructor({ log, readBehind }) {
    this.log = log;
    this.readBehind = readBehind;
    this.numPartitions = log.numPartitions('trajectories');
  }

  /** @returns {Promise<{ largestRunId: string, longEpisodeId: string, numEpisodes: number, numTokens: number }>} */
  async write({ numRuns, numSteps }) {
    const numEpisodes = Math.floor(numSteps / STEPS_PER_EPISODE);
    const ofLargest = Math.floor(numEpisodes * SHARE_OF_LARGEST);
    const ofOthers = Math.floor((numEpisodes - ofLargest) / Math.max(1, numRuns - 1));
    // The newest, which the page shows first.
    for (let run = numRuns - 1; run > 0; run--) await this.#writeRun(newRunId(), run, ofOthers);
    const largestRunId = newRunId();
    await this.#writeRun(largestRunId, 0, ofLargest);
    const longEpisodeId = await this.#writeLongEpisode(largestRunId, ofLargest);
    await this.#appendAll();
    await this.#until(0);
    const written = ofLargest + ofOthers * (numRuns - 1);
    const numTokens = written * STEPS_PER_EPISODE * TOKENS_PER_STEP + LONG_STEPS * TOKENS_PER_LONG_STEP;
    return { largestRunId, longEpisodeId, numEpisodes: written + 1, numTokens };
  }

  async #writeRun(runId, run, numEpisodes) {
    const ids = { logId: this.log.logId, runId };
    const started = { name: `sweep ${run % 40}`, seed: run, baselines: [], tags: [`lab ${run % 7}`] };
    await this.#addControl(controlEvent(ids, 'RunStarted', started));
    for (let ordinal = 0; ordinal < numEpisodes; ordinal++)
      await this.#addEpisode(this.#episode(ids, ordinal, sampleSteps(ordinal)));
    for (let update = 1; update <= UPDATES_PER_RUN; update++) {
      const values = Float64Array.from(METRICS, (_, i) => Math.sin(run + i + update / 5));
      for (const source of ['trainer', 'collector'])
        await this.#addControl(
          controlEvent(ids, 'MetricsLogged', { source, step: update, names: METRICS, values }),
        );
    }
    if (run % RUNS_PER_ALARMED === 0) await this.#addWarnings(ids);
    await this.#addControl(controlEvent(ids, 'RunEnded', { numUpdates: UPDATES_PER_RUN }));
  }

  /** Some alarms, each raised several times, and a warning that is none. */
  async #addWarnings(ids) {
    for (let numTimes = 1; numTimes <= TIMES_RAISED; numTimes++)
      for (const rule of ALARM_RULES)
        await this.#addControl(
          controlEvent(ids, 'WarningRaised', { severity: 'alarm', rule, step: numTimes, numTimes }),
        );
    await this.#addControl(controlEvent(ids, 'WarningRaised', { severity: 'warning', rule: '' }));
  }

  async #writeLongEpisode(runId, ordinal) {
    const steps = Array.from({ length: LONG_STEPS }, (_, step) => ({
      ...sampleStep({ step, numTokens: TOKENS_PER_LONG_STEP, numActionTokens: TOKENS_PER_LONG_STEP / 2 }),
      keptPrefixTokens: step * TOKENS_PER_LONG_STEP,
    }));
    const events = this.#episode({ logId: this.log.logId, runId }, ordinal, steps);
    await this.#addEpisode(events);
    return events[0].episodeId;
  }

  #episode(ids, ordinal, steps) {
    return episodeEvents({
      ...ids,
      ordinal,
      steps,
      started: {
        groupId: `group ${Math.floor(ordinal / GROUP_SIZE)}`,
        groupSize: GROUP_SIZE,
        groupMember: ordinal % GROUP_SIZE,
        parentEpisodeId: null,
      },
      ended: { endReason: 'terminated', success: ordinal % 3 === 0 },
    });
  }

  async #addEpisode(events) {
    const { runId, episodeId } = events[0];
    await this.#add('trajectories', choosePartition(runId, episodeId, this.numPartitions), events);
  }

  #addControl(event) {
    return this.#add('control', 0, [event]);
  }

  async #add(topic, partition, events) {
    const key = `${topic}/${partition}`;
    const waiting = this.#waiting.get(key) ?? { topic, partition, records: [] };
    this.#waiting.set(key, waiting);
    for (const event of events) waiting.records.push(encodeEvent(event));
    if (waiting.records.length >= RECORDS_PER_APPEND) await this.#append(waiting);
  }

  async #appendAll() {
    for (const waiting of this.#waiting.values()) await this.#append(waiting);
  }

  async #append({ topic, partition, records }) {
    if (records.length === 0) return;
    await this.log.append(topic, partition, records.splice(0));
    await this.#until(MAX_RECORDS_BEHIND);
  }

  async #until(numBehind) {
    while ((await this.readBehind()) > numBehind) await sleep(PAUSE_MS);
  }
}

/** Steps of a small world, those of one episode in a growing context. */
function sampleSteps(ordinal) {
  return Array.from({ length: STEPS_PER_EPISODE }, (_, step) => ({
    ...sampleStep({ step, numTokens: TOKENS_PER_STEP, numActionTokens: 4 }),
    keptPrefixTokens: step * TOKENS_PER_STEP,
    reward: step === STEPS_PER_EPISODE - 1 ? (ordinal % 3 === 0 ? 1 : 0) : null,
    terminated: step === STEPS_PER_EPISODE - 1,
  }));
}
