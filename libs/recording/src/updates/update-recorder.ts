import { isDeepStrictEqual } from 'node:util';
import { readCommittedUpdate } from '@retrace/store';
import { newControlEventId } from '@retrace/trajectory';
import { LRUCache } from 'lru-cache';
import { RecordingError } from '../recording-error.js';
import { requireRecorded } from '../run/run-book.js';
import { invalid, requireRequest } from '../wire/check-wire.js';
import {
  PUBLISH_POLICY_REQUEST,
  RECORD_UPDATE_REQUEST,
  type RecordUpdateRequest,
} from '../wire/update-requests.js';
import type { RedactingParts } from '../run/control-parts.js';
import { ClaimedRun } from './claimed-run.js';
import { requireEpisodes } from './trained-episodes.js';
import { metricsEvent, publishedPolicy, makeTrainerState, updateEvents } from './update-events.js';

/** An update that the log has. */
export interface AcknowledgedUpdate {
  /** Names it in the log; the id of the request. */
  readonly planId: string;
  readonly updateNumber: number;
  /** The version that it made. */
  readonly policyVersion: number;
  /** False where it was recorded before. */
  readonly isNew: boolean;
}

interface UpdateRecorderParts extends RedactingParts {
  /** Waits until the store has every record of an episode that the log has now. */
  readonly untilEpisodesStored: () => Promise<void>;
}

const MAX_CLAIMS = 1_000;

/**
 * Records updates and policies that trainers outside of Retrace made, in recorded runs, with the same events as a trainer here.
 *
 * One process at a time writes them to a run, under its claim; the fold discards what a process writes after it lost its claim, and the request
 * fails. Acknowledged once the log has it.
 */
export class UpdateRecorder {
  private readonly claims = new LRUCache<string, ClaimedRun>({ max: MAX_CLAIMS });

  constructor(private readonly parts: UpdateRecorderParts) {}

  /**
   * Records an update that was made of episodes of this run or of others, and publishes the policy that it made; does nothing where it was
   * recorded with the same id and content.
   *
   * @param value a `RecordUpdateRequest`, checked here
   * @throws RecordingError `INVALID_RECORDS`, `RUN_UNKNOWN`, `RUN_NOT_RECORDED`, `EPISODE_UNKNOWN`, `POLICY_UNKNOWN`, `UPDATE_CONFLICT`,
   *   `RUN_CLAIMED`, `LOG_UNAVAILABLE`, `STORE_BEHIND`
   */
  async record(runId: string, value: unknown): Promise<AcknowledgedUpdate> {
    const { client, untilEpisodesStored: untilStored } = this.parts;
    const request = this.redact(requireRequest(RECORD_UPDATE_REQUEST, value));
    requireMetricNames(request);
    return this.asTrainer(runId, async (run) => {
      const earlier = await this.earlier(run, request);
      if (earlier !== null) return earlier;
      const { id: planId = newControlEventId(), policyVersionIn } = request;
      const { nextUpdate: updateNumber, nextVersion: policyVersion, epoch } = run;
      if ((request.updateNumber ?? updateNumber) !== updateNumber)
        throw conflict(
          `updateNumber is ${request.updateNumber}; the next update of run ${runId} is ${updateNumber}`,
        );
      requirePublished(run, 'policyVersionIn', policyVersionIn);
      const trained = { episodes: request.episodes, untilStored };
      const episodes = await requireEpisodes(client, runId, trained);
      const modelHash = await makeModel(run, request.model, policyVersionIn);
      const place = { runId, planId, epoch, updateNumber, policyVersionOut: policyVersion, modelHash };
      const update = { request, ...place, episodes };
      await run.append(updateEvents(update));
      // Metrics count whatever the claim of their writer, so they are written only once the update counts.
      await run.append([metricsEvent(update)]);
      const trainerState = JSON.stringify(makeTrainerState(request));
      run.updates.set(planId, { updateNumber, policyVersion, trainerState });
      return { planId, updateNumber, policyVersion, isNew: true };
    });
  }

  /**
   * Publishes a policy that no update of this run made, such as the one that training starts from; does nothing where the version was
   * published with the same content.
   *
   * @param value a `PublishPolicyRequest`, checked here
   * @throws RecordingError as `record`
   */
  async publishPolicy(
    runId: string,
    value: unknown,
  ): Promise<{ readonly policyVersion: number; readonly isNew: boolean }> {
    const request = this.redact(requireRequest(PUBLISH_POLICY_REQUEST, value));
    return this.asTrainer(runId, async (run) => {
      const { parentVersion = null, policyVersion } = request;
      if (parentVersion !== null) requirePublished(run, 'parentVersion', parentVersion);
      const modelHash = await makeModel(run, request.model, parentVersion);
      const place = { policyVersion, parentVersion, updateNumber: 0, epoch: run.epoch, modelHash };
      const policy = publishedPolicy(request, place);
      if (run.policyVersions.includes(policyVersion)) {
        if (isDeepStrictEqual({ ...policy, epoch: 0 }, { ...(await run.policyOf(policyVersion)), epoch: 0 }))
          return { policyVersion, isNew: false };
        throw conflict(`Policy ${policyVersion} of run ${runId} was published with other content`);
      }
      if (policyVersion !== run.nextVersion)
        throw conflict(
          `policyVersion is ${policyVersion}; the next version of run ${runId} is ${run.nextVersion}`,
        );
      await run.append([{ kind: 'PolicyPublished', payload: policy }]);
      return { policyVersion, isNew: true };
    });
  }

  /** Hides what may not be stored; what made the gradients is no content of the caller. */
  private redact<T extends object>(request: T): T {
    const { engine } = request as Partial<Pick<RecordUpdateRequest, 'engine'>>;
    return { ...this.parts.redact(request), ...(engine && { engine }) };
  }

  /** Writes to a run while a claim of this process is in force, one write after the other. */
  private async asTrainer<T>(runId: string, write: (run: ClaimedRun) => Promise<T>): Promise<T> {
    const { runs } = this.parts;
    requireRecorded(await runs.require(runId));
    return runs.oneAfterTheOther(runId, async () => {
      const held = this.claims.get(runId);
      // Taken away from those who fail: what they know of the run may lack what has landed.
      this.claims.delete(runId);
      const run =
        held === undefined || (await held.isOvertaken()) ? await ClaimedRun.claim(this.parts, runId) : held;
      try {
        const answer = await write(run);
        this.claims.set(runId, run);
        return answer;
      } catch (error) {
        if (error instanceof RecordingError && !error.retriable) this.claims.set(runId, run);
        throw error;
      }
    });
  }

  /** The answer to a request that was answered before. @throws RecordingError `UPDATE_CONFLICT` where its id has other content */
  private async earlier(run: ClaimedRun, request: RecordUpdateRequest): Promise<AcknowledgedUpdate | null> {
    const { id: planId } = request;
    if (planId === undefined) return null;
    const { runId } = run;
    const earlier = run.updates.get(planId) ?? (await readCommittedUpdate(this.parts.client, runId, planId));
    if (earlier === null) return null;
    const { updateNumber, policyVersion, trainerState } = earlier;
    if (trainerState !== JSON.stringify(makeTrainerState(request)))
      throw conflict(`Update ${planId} of run ${runId} was recorded with other content; choose another id`);
    return { planId, updateNumber, policyVersion, isNew: false };
  }
}

const UNKNOWN_MODEL = 'unknown';

/** The model of a version: the named one, or that of the version before. */
async function makeModel(
  run: ClaimedRun,
  named: string | undefined,
  parentVersion: number | null,
): Promise<string> {
  if (named !== undefined || parentVersion === null) return named ?? UNKNOWN_MODEL;
  return (await run.policyOf(parentVersion))?.modelHash ?? UNKNOWN_MODEL;
}

/** @throws RecordingError `INVALID_RECORDS` */
function requireMetricNames({ metrics = {} }: RecordUpdateRequest): void {
  if (!('' in metrics)) return;
  throw invalid({
    index: null,
    field: 'metrics',
    value: '',
    rule: 'must have names that are non-empty text',
  });
}

/** @throws RecordingError `POLICY_UNKNOWN` */
function requirePublished({ runId, policyVersions }: ClaimedRun, field: string, version: number): void {
  if (policyVersions.includes(version)) return;
  const newest = policyVersions.at(-1);
  const rule =
    newest === undefined
      ? `run ${runId} has published no policy yet; publish the one that training starts from first`
      : `run ${runId} has published versions ${policyVersions[0]} to ${newest}`;
  throw new RecordingError('POLICY_UNKNOWN', `${field} is ${version}; ${rule}`);
}

function conflict(message: string): RecordingError {
  return new RecordingError('UPDATE_CONFLICT', message);
}
