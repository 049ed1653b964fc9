/** The writing end of the pipeline, in this process, and the position of the sink, in another. */
import { performance } from 'node:perf_hooks';
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import { newRunId } from '@retrace/trajectory';
import { EpisodeSource } from './sample-episodes.mjs';

/** The writer waits while this many events are not yet visible, so that all processes work at one rate. */
const MAX_EVENTS_AHEAD = 24_000;

/** Writes to a fresh log with one partition that nothing else writes to. */
export class WrittenPipeline {
  written = 0;
  visible = 0;
  numInserts = 0;
  latenciesMs = [];
  #ordinal = 0;
  #awaited = [];

  /** @param {{ Source?: typeof EpisodeSource | typeof import('./sample-episodes.mjs').RewardSource }} parts what it writes */
  constructor({ log, writer, sink, Source = EpisodeSource }) {
    this.runId = newRunId();
    this.writer = writer;
    this.source = new Source({ logId: log.logId, runId: this.runId });
    sink.child.on('message', ({ nextOffset, numInserts }) => {
      this.visible = nextOffset ?? 0;
      this.numInserts = numInserts;
      const now = performance.now();
      // With one partition and one writer, the n-th event written has offset n − 1.
      while (this.#awaited.length > 0 && this.#awaited[0].count <= this.visible)
        this.latenciesMs.push(now - this.#awaited.shift().at);
    });
  }

  async writeEpisode() {
    for (const event of this.source.episode(this.#ordinal++)) this.writer.write(event);
    this.written += this.source.eventsPerEpisode;
    this.#awaited.push({ count: this.written, at: performance.now() });
    await this.writer.betweenTurns();
  }

  /** Writes as fast as the slowest process allows. */
  async writeFor(durationMs) {
    for (const startedAt = performance.now(); performance.now() - startedAt < durationMs;) {
      await this.writeEpisode();
      await this.#keepClose();
    }
  }

  async writeEpisodes(numEpisodes) {
    for (let n = 0; n < numEpisodes; n++) {
      await this.writeEpisode();
      await this.#keepClose();
    }
  }

  async writePaced(durationMs, episodesPerSecond) {
    const startedAt = performance.now();
    for (let n = 0; performance.now() - startedAt < durationMs; n++) {
      await this.writeEpisode();
      const dueMs = startedAt + (1000 * n) / episodesPerSecond;
      if (dueMs - performance.now() > 1) await pause(dueMs - performance.now());
      else await turn();
    }
  }

  async #keepClose() {
    while (this.written - this.visible > MAX_EVENTS_AHEAD) await pause(2);
  }

  async drain() {
    await this.writer.flush();
    while (this.visible < this.written) await pause(5);
  }
}
