import { GroupCommit, type EventLog } from '@retrace/log';
import {
  type EpisodeProgressRow,
  readEpisodeIdRange,
  readEpisodeProgress,
  StoredPosition,
  type StoreClient,
} from '@retrace/store';
import type { EpisodeProgress } from '../episode/episode-progress.js';
import { restoreState } from '../episode/restore-state.js';
import { RecordingError } from '../recording-error.js';
import type { PartitionLane } from './partition-lane.js';

interface Wanted {
  readonly runId: string;
  readonly episodeId: string;
}

export interface LoaderOptions {
  /** Longest wait until the store has what this process has forgotten. */
  readonly storeTimeoutMs: number;
  /** Brings the store up to date, and then there is no wait. */
  readonly catchUp?: () => Promise<void>;
}

/** Episodes in one query: about 20 kB of its text. */
const IDS_PER_QUERY = 500;
const MAX_ATTEMPTS = 5;

/** Reads the states of episodes that a lane does not know from the store, many at a time. */
export class EpisodeLoader {
  private readonly stored: StoredPosition;
  private readonly loads: GroupCommit<Wanted, EpisodeProgress>;
  private readonly learning = new Map<string, Promise<void>>();
  private readonly position: Parameters<typeof readEpisodeProgress>[1];

  constructor(
    log: EventLog,
    private readonly client: StoreClient,
    private readonly lane: PartitionLane,
    private readonly options: LoaderOptions,
  ) {
    this.stored = new StoredPosition(log, client, { stream: 'trajectories', partition: lane.partition });
    this.loads = new GroupCommit(
      (group) => this.loadGroup(group),
      (waiting) => Math.min(waiting.length, IDS_PER_QUERY),
    );
    this.position = { logId: log.logId, stream: 'trajectories', partition: lane.partition };
  }

  /**
   * Returns the state of an episode, pinned, as the log has it: one that has not started where the log has none.
   *
   * @throws RecordingError `STORE_BEHIND`, `LOG_UNAVAILABLE`; StoreError; LogError
   */
  load(runId: string, episodeId: string): Promise<EpisodeProgress> {
    return this.loads.submit({ runId, episodeId });
  }

  /** Learns which ids of a run can be in the log though they are not in memory. @throws as `load` */
  learnRun(runId: string): Promise<void> {
    const known = this.learning.get(runId);
    if (known !== undefined) return known;
    const learning = this.lane.knownIds
      .learn(runId, async () => {
        await this.lane.refresh();
        await this.untilStored();
        return readEpisodeIdRange(this.client, this.position, runId);
      })
      .finally(() => this.learning.delete(runId));
    this.learning.set(runId, learning);
    return learning;
  }

  /** Waits until the store has every record that this process knows of. @throws as `load` */
  untilStoredAll(): Promise<void> {
    return this.untilStored(this.lane.endOffset);
  }

  private async loadGroup(group: readonly Wanted[]): Promise<readonly EpisodeProgress[]> {
    const { states } = this.lane;
    const isMissing = ({ runId, episodeId }: Wanted): boolean => states.get(runId, episodeId) === undefined;
    for (let attempt = 0; attempt < MAX_ATTEMPTS && group.some(isMissing); attempt++) {
      const byRun = new Map<string, Set<string>>();
      for (const { runId, episodeId } of group.filter(isMissing)) {
        byRun.set(runId, (byRun.get(runId) ?? new Set()).add(episodeId));
      }
      for (const [runId, episodeIds] of byRun) await this.loadRun(runId, [...episodeIds]);
    }
    const loaded = group.map(({ runId, episodeId }) => {
      const state = states.get(runId, episodeId);
      if (state !== undefined) state.numPins += 1;
      return state;
    });
    if (loaded.every((state) => state !== undefined)) return loaded;
    for (const state of loaded) if (state !== undefined) state.numPins -= 1;
    const message = 'other processes keep writing to the same episodes; write an episode through one process';
    throw new RecordingError('STORE_BEHIND', message, { retriable: true });
  }

  private async loadRun(runId: string, episodeIds: readonly string[]): Promise<void> {
    const { lane } = this;
    const loading = new Map(episodeIds.map((episodeId) => [episodeId, { isDirty: false }]));
    for (const [episodeId, mark] of loading) lane.loading.set(runId + episodeId, mark);
    try {
      await lane.refresh();
      for (const mark of loading.values()) mark.isDirty = false;
      await this.untilStored();
      const rows = await readEpisodeProgress(this.client, this.position, { runId, episodeIds });
      const byEpisode = new Map<string, EpisodeProgressRow[]>(episodeIds.map((episodeId) => [episodeId, []]));
      for (const row of rows) byEpisode.get(row.episodeId)?.push(row);
      for (const [episodeId, { isDirty }] of loading) {
        if (isDirty || lane.states.get(runId, episodeId) !== undefined) continue;
        const place = { runId, episodeId, partition: lane.partition };
        lane.states.add(restoreState(place, byEpisode.get(episodeId) ?? []));
      }
    } finally {
      for (const episodeId of loading.keys()) lane.loading.delete(runId + episodeId);
    }
  }

  /** Waits until the store has all records of episodes that are not in memory. */
  private async untilStored(end = this.lane.forgottenEnd): Promise<void> {
    const { storeTimeoutMs, catchUp } = this.options;
    if (await this.stored.reaches(end, catchUp === undefined ? storeTimeoutMs : 0)) return;
    if (catchUp !== undefined) return catchUp();
    const message = `the store has not taken over the log's records within ${storeTimeoutMs} ms; it is asked about episodes that this process does not know`;
    throw new RecordingError('STORE_BEHIND', message, { retriable: true });
  }
}
