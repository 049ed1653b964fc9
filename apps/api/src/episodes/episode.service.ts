import { Injectable } from '@nestjs/common';
import { isoTime } from '../store/store-time.js';
import { RunStarts } from '../store/run-starts.js';
import { StoreService } from '../store/store.service.js';
import { currentEvents } from '../store/trainer-events.js';
import { TokenTexts } from '../tokens/token-texts.js';
import { IS_POORER } from './episode-filter.js';
import type { EpisodeDetail, EpisodeParams, EpisodeQuery, StepDetail } from './episodes.dto.js';
import type { EpisodeSteps } from './episode-steps.dto.js';
import { ForkService } from './fork.service.js';
import { missingEpisode } from './missing-episode.js';
import { type EpisodeUse, SHARE_COLUMNS } from '../updates/update-inputs.dto.js';
import { IN_LOG_ORDER, NUMBERED_KINDS, selectSteps, toStepDetail, type StepRow } from './step-row.js';
import {
  type EpisodeRecordRow,
  GET_EPISODE_RECORDS,
  type EpisodeHeading,
  readEpisodeHeading,
} from './episode-heading.js';

/** Limit of tokens in one answer, so that an episode of long steps stays a few megabytes of JSON. */
const MAX_TOKENS = 100_000;

const OF_EPISODE = 'run_id = {runId:String} AND episode_id = {episodeId:String}';

const GET_STEPS = selectSteps(OF_EPISODE);

// One query in place of two: its fixed costs are half of what the number of steps takes.
const GET_STEPS_OF_SEALED = selectSteps(
  OF_EPISODE,
  `,
    (SELECT argMinOrNullIf(num_steps, log_offset, kind = 'EpisodeEnded') FROM events
     WHERE ${OF_EPISODE} AND kind IN ('EpisodeStarted', 'EpisodeEnded') HAVING countIf(kind = 'EpisodeStarted') > 0) AS num_steps`,
);

const IS_STEP = "kind = 'StepRecorded'";
const STEP_RANGE = `minOrNullIf(toUInt64(seq - 1), ${IS_STEP} AND seq > {fromStep:UInt32}) AS first_step,
    maxOrNullIf(toUInt64(seq - 1), ${IS_STEP} AND seq > {fromStep:UInt32}) AS last_step`;

const GET_STEP_RANGE = `
  SELECT ${STEP_RANGE}
  FROM (
    SELECT seq, kind FROM events WHERE ${OF_EPISODE} AND kind IN ${NUMBERED_KINDS} AND seq > {fromStep:UInt32}
    ${IN_LOG_ORDER} LIMIT 1 BY seq
  )`;

const GET_SUMS = `
  SELECT ${STEP_RANGE}, sumOrNullIf(usage[5], ${IS_STEP} AND notEmpty(usage) AND isFinite(usage[5])) AS cost_usd,
    toUInt32(countIf(${IS_STEP} AND ${IS_POORER})) AS num_poorer_steps, countIf(kind = 'RewardAssigned') AS num_assignments
  FROM (
    SELECT seq, kind, usage, untrainable
    FROM events
    WHERE ${OF_EPISODE} AND (kind IN ${NUMBERED_KINDS} OR kind = 'RewardAssigned')
    ${IN_LOG_ORDER}
    LIMIT 1 BY seq, kind = 'RewardAssigned'
  )`;

// A search for the id in the manifests' text: many times faster than opening them, and an id is in a plan only as a member.
const IS_PLANNED = 'position(payload, {episodeId:String}) > 0 AS is_planned';
const GET_UPDATES = `
  SELECT update_number
  FROM (${currentEvents('BatchPlanned', `update_number, ${IS_PLANNED}`, 'run_id = {runId:String}')})
  WHERE is_planned
  ORDER BY update_number`;

const GET_USES = `
  SELECT run_id, update_number, policy_version_in, ${SHARE_COLUMNS}
  FROM update_inputs
  WHERE episode_id = {episodeId:String} AND episode_run_id = {runId:String}
  ORDER BY run_id, update_number
  LIMIT 1000`;

const GET_SCORES = `
  SELECT step, name, value, source, rationale, assigned_at
  FROM current_rewards
  WHERE run_id = {runId:String} AND episode_id = {episodeId:String}
  ORDER BY step IS NOT NULL, step, name, source`;

/** The stored steps of an episode from one on; null where there is none. */
interface StepRange {
  readonly firstStep: number | null;
  readonly lastStep: number | null;
}

/** Sums over all records of an episode. */
interface EpisodeSums extends StepRange, Pick<EpisodeDetail, 'costUsd' | 'numPoorerSteps'> {
  /** Records that assign or retract a reward; most episodes have none, and the view of those that count is slow. */
  readonly numAssignments: number;
}

const NO_STEPS: StepRange = { firstStep: null, lastStep: null };

/** Steps of an episode from one on, as many as fit an answer. */
interface StepsRead {
  readonly rows: readonly StepRow[];
  /** Of the whole episode; null while it goes on. */
  readonly numSteps: number | null;
  /** Needed only where there are no rows, or the episode goes on. */
  readonly range: StepRange;
}

interface StepOfSealedRow extends StepRow {
  /** Of the whole episode; null while it goes on, or where its start is not stored. */
  readonly numSteps: number | null;
}

@Injectable()
export class EpisodeService {
  constructor(
    private readonly store: StoreService,
    private readonly starts: RunStarts,
    private readonly tokenTexts: TokenTexts,
    private readonly forks: ForkService,
  ) {}

  /** @throws ProblemError `NOT_FOUND` */
  async get(key: EpisodeParams, part: EpisodeQuery): Promise<EpisodeDetail> {
    const { runId, episodeId } = key;
    const summing = this.readSums(key, part.fromStep);
    const [hasStarted, episode, updates, uses, steps, scores, sums, forks] = await Promise.all([
      this.starts.has(runId),
      this.readEpisode(key),
      this.store.queryRows<{ updateNumber: number }>(GET_UPDATES, { ...key }),
      this.store.queryRows<EpisodeUse>(GET_USES, { ...key }),
      this.readSteps(GET_STEPS, key, part),
      summing.then(({ numAssignments }) => this.readScores(key, numAssignments)),
      summing,
      this.forks.of({ runId, episodeId }),
    ]);
    if (!hasStarted || !episode) throw await missingEpisode(this.store, key, hasStarted);
    return {
      ...episode,
      ...forks,
      scores: scores.map((score) => ({ ...score, assignedAt: isoTime(score.assignedAt) })),
      numPoorerSteps: sums.numPoorerSteps,
      costUsd: sums.costUsd,
      updateNumbers: updates.map(({ updateNumber }) => updateNumber),
      uses,
      ...(await this.toSteps(key, part, { rows: steps, numSteps: episode.numSteps, range: sums })),
    };
  }

  /** Steps only, for those who have the rest of the answer from an earlier request. @throws ProblemError `NOT_FOUND` */
  async getSteps(key: EpisodeParams, part: EpisodeQuery): Promise<EpisodeSteps> {
    const [hasStarted, found] = await Promise.all([
      this.starts.has(key.runId),
      this.readSteps<StepOfSealedRow>(GET_STEPS_OF_SEALED, key, part),
    ]);
    const numSteps = found.at(0)?.numSteps ?? null;
    const rows = found.map(({ numSteps: _, ...row }) => row);
    if (hasStarted && numSteps !== null) return this.toSteps(key, part, { rows, numSteps, range: NO_STEPS });
    // Ongoing, not stored or without its start, or of no step from here on.
    const [episode, [range]] = await Promise.all([
      this.readEpisode(key),
      this.store.queryRows<StepRange>(GET_STEP_RANGE, { ...key, fromStep: part.fromStep }),
    ]);
    if (!hasStarted || !episode) throw await missingEpisode(this.store, key, hasStarted);
    return this.toSteps(key, part, { rows, numSteps: episode.numSteps, range });
  }

  /** Null where its start is not stored. */
  private async readEpisode(key: EpisodeParams): Promise<EpisodeHeading | null> {
    const records = await this.store.queryRows<EpisodeRecordRow>(GET_EPISODE_RECORDS, { ...key });
    return readEpisodeHeading(key.runId, records);
  }

  private readSteps<Row extends StepRow>(
    sql: string,
    key: EpisodeParams,
    { fromStep, maxSteps }: EpisodeQuery,
  ): Promise<Row[]> {
    return this.store.queryRows<Row>(sql, { ...key, fromStep, maxSteps, maxTokens: MAX_TOKENS });
  }

  private async readSums(key: EpisodeParams, fromStep: number): Promise<EpisodeSums> {
    const [sums] = await this.store.queryRows<EpisodeSums>(GET_SUMS, { ...key, fromStep });
    return sums;
  }

  private readScores(key: EpisodeParams, numAssignments: number): Promise<EpisodeDetail['scores']> {
    return numAssignments === 0 ? Promise.resolve([]) : this.store.queryRows(GET_SCORES, { ...key });
  }

  private async toSteps(
    key: EpisodeParams,
    { maxSteps }: EpisodeQuery,
    { rows, numSteps, range: { firstStep, lastStep } }: StepsRead,
  ): Promise<EpisodeSteps> {
    // An episode may lack so many steps that the next one is further away, and the rows may have been read just before there were some.
    const isAgain = rows.length === 0 && firstStep !== null;
    const found = isAgain ? await this.readSteps(GET_STEPS, key, { fromStep: firstStep, maxSteps }) : rows;
    return {
      steps: await this.withTexts(found),
      nextStep: nextStep(found, numSteps ?? (lastStep ?? -1) + 1),
    };
  }

  private async withTexts(steps: readonly StepRow[]): Promise<StepDetail[]> {
    const texts = await this.tokenTexts.ofAll(steps);
    return steps.map((row, i) => toStepDetail(row, texts[i]));
  }
}

/** @param end one more than the last step: of an unfinished episode the last that is stored, since later ones are returned when it is requested again */
function nextStep(rows: readonly StepRow[], end: number): number | null {
  const last = rows.at(-1);
  return last !== undefined && last.step + 1 < end ? last.step + 1 : null;
}
