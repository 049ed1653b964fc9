import { Injectable } from '@nestjs/common';
import { ProblemError } from '../problems/problem.js';
import { isoTime } from '../store/store-time.js';
import { RunStarts } from '../store/run-starts.js';
import { StoreService } from '../store/store.service.js';
import { TokenTexts } from '../tokens/token-texts.js';
import { IS_POORER } from './episode-filter.js';
import { EPISODE_COLUMNS, toEpisodeListItem } from './episode-row.js';
import type {
  EpisodeDetail,
  EpisodeListItem,
  EpisodeParams,
  EpisodeQuery,
  StepDetail,
} from './episodes.dto.js';
import type { EpisodeSteps } from './episode-steps.dto.js';
import { ForkService } from './fork.service.js';
import type { ForkOrigin } from './forks.dto.js';
import { type EpisodeUse, SHARE_COLUMNS } from '../updates/update-inputs.dto.js';
import { parseJson, STEP_COLUMNS, toStepDetail, type StepRow } from './step-row.js';

interface EpisodeDetailRow extends EpisodeListItem {
  readonly task: string;
  readonly metadata: string | null;
  readonly parentEpisodeId: string | null;
  readonly forkedFromRunId: string | null;
  readonly forkedFromEpisodeId: string | null;
  readonly forkedFromStep: number | null;
  readonly finalObservation: string;
  readonly endDetail: string | null;
}

/** Limit of tokens in one answer, so that an episode of long steps stays a few megabytes of JSON. */
const MAX_TOKENS = 100_000;

const GET_EPISODE = `
  SELECT ${EPISODE_COLUMNS}, task, metadata, parent_episode_id,
    forked_from_run_id, forked_from_episode_id, forked_from_step, final_observation, end_detail
  FROM stored_episodes
  WHERE run_id = {runId:String} AND episode_id = {episodeId:String}`;

const OF_EPISODE = 'run_id = {runId:String} AND episode_id = {episodeId:String}';

const GET_NUM_STEPS = `SELECT num_steps FROM stored_episodes WHERE ${OF_EPISODE}`;

// The first step is always returned, however many tokens it has. The store finds the rows of steps by their number, so only those of the answer are read.
const selectSteps = (columns: string): string => `
  SELECT ${columns}
  FROM (
    SELECT ${STEP_COLUMNS},
      sum(length(token_ids)) OVER (ORDER BY step ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS num_tokens_to_here
    FROM stored_steps
    WHERE ${OF_EPISODE} AND step >= {fromStep:UInt32} AND step < {fromStep:UInt32} + {maxSteps:UInt32}
  )
  WHERE num_tokens_to_here <= {maxTokens:UInt64} OR step = {fromStep:UInt32}
  ORDER BY step`;

const GET_STEPS = selectSteps(STEP_COLUMNS);

// One query in place of two: its fixed costs are half of what the number of steps takes.
const GET_STEPS_OF_SEALED = selectSteps(`${STEP_COLUMNS}, (${GET_NUM_STEPS}) AS num_steps`);

const STEP_RANGE = `minOrNullIf(step, step >= {fromStep:UInt32}) AS first_step, maxOrNullIf(step, step >= {fromStep:UInt32}) AS last_step`;

const GET_STEP_RANGE = `SELECT ${STEP_RANGE} FROM stored_steps WHERE ${OF_EPISODE} AND step >= {fromStep:UInt32}`;

const GET_SUMS = `
  SELECT ${STEP_RANGE}, sum(cost_usd) AS cost_usd, toUInt32(countIf(${IS_POORER})) AS num_poorer_steps,
    (SELECT count() FROM events WHERE ${OF_EPISODE} AND kind = 'RewardAssigned') AS num_assignments
  FROM stored_steps
  WHERE ${OF_EPISODE}`;

// A search for the id in the manifests' text: many times faster than opening them, and an id is in a plan only as a member.
const GET_UPDATES = `
  SELECT DISTINCT update_number
  FROM current_trainer_events
  WHERE run_id = {runId:String} AND kind = 'BatchPlanned' AND position(payload, {episodeId:String}) > 0
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
  /** Of the whole episode; null while it goes on. */
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
    const [hasStarted, [episode], updates, uses, steps, scores, sums, forks] = await Promise.all([
      this.starts.has(runId),
      this.store.queryRows<EpisodeDetailRow | undefined>(GET_EPISODE, { ...key }),
      this.store.queryRows<{ updateNumber: number }>(GET_UPDATES, { ...key }),
      this.store.queryRows<EpisodeUse>(GET_USES, { ...key }),
      this.readSteps(GET_STEPS, key, part),
      summing.then(({ numAssignments }) => this.readScores(key, numAssignments)),
      summing,
      this.forks.of({ runId, episodeId }),
    ]);
    if (!hasStarted || !episode) throw episodeNotFound(key);
    const { forkedFromRunId, forkedFromEpisodeId, forkedFromStep, ...listed } = episode;
    return {
      ...toEpisodeListItem(listed),
      task: parseJson(episode.task),
      metadata: parseJson(episode.metadata ?? ''),
      parentEpisodeId: episode.parentEpisodeId,
      forkedFrom: originOf(forkedFromRunId, forkedFromEpisodeId, forkedFromStep),
      ...forks,
      finalObservation: episode.sealed ? episode.finalObservation : null,
      scores: scores.map((score) => ({ ...score, assignedAt: isoTime(score.assignedAt) })),
      endDetail: episode.endDetail ?? '',
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
    // Ongoing, not stored, or of no step from here on.
    const [[episode], [range]] = await Promise.all([
      this.store.queryRows<{ numSteps: number | null } | undefined>(GET_NUM_STEPS, { ...key }),
      this.store.queryRows<StepRange>(GET_STEP_RANGE, { ...key, fromStep: part.fromStep }),
    ]);
    if (!hasStarted || !episode) throw episodeNotFound(key);
    return this.toSteps(key, part, { rows, numSteps: episode.numSteps, range });
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

  private withTexts(steps: readonly StepRow[]): Promise<StepDetail[]> {
    return Promise.all(
      steps.map(async (row) => toStepDetail(row, await this.tokenTexts.of(row.tokenizerHash, row.tokenIds))),
    );
  }
}

export function episodeNotFound({ runId, episodeId }: EpisodeParams): ProblemError {
  return new ProblemError(
    'NOT_FOUND',
    `Episode ${episodeId} of run ${runId} not found; an episode of the last seconds may not be stored yet`,
  );
}

function originOf(runId: string | null, episodeId: string | null, step: number | null): ForkOrigin | null {
  return runId === null || episodeId === null || step === null ? null : { runId, episodeId, step };
}

/** @param end one more than the last step: of an unfinished episode the last that is stored, since later ones are returned when it is requested again */
function nextStep(rows: readonly StepRow[], end: number): number | null {
  const last = rows.at(-1);
  return last !== undefined && last.step + 1 < end ? last.step + 1 : null;
}
