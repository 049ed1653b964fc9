import {
  readPublishedVersion,
  readTrainingPosition,
  type CommittedUpdate,
  type PublishedVersion,
} from '@retrace/store';
import { newControlEvent, type AnyEvent } from '@retrace/trajectory';
import { peekEnvelope } from '@retrace/trajectory/codec';
import { LRUCache } from 'lru-cache';
import { RecordingError } from '../recording-error.js';
import { requireControlEvent } from '../run/control-event.js';
import type { ControlParts } from '../run/control-parts.js';
import type { ControlPayload } from './update-events.js';

/** Names of fields in requests, by those that events have for them. */
const FIELDS = { samplerState: 'batch', modelHash: 'model', metricNames: 'metrics', names: 'metrics' };

/** So many updates, or policies, may be missing from the store that is behind. */
const NUM_REMEMBERED = 1_000;

/** Events that end a claim. */
const OVERTAKING: ReadonlySet<string> = new Set(['TrainerClaimed', 'RunDeleted']);

/**
 * A run that this process has claimed, as a trainer does: while no other claims it, what it writes counts, and only it writes. So it knows without the
 * store what there is: what was there when it claimed, and what it has written since.
 */
export class ClaimedRun {
  /** The newest updates that were written under the claim, by plan; the store may lack them yet. */
  readonly updates = new LRUCache<string, CommittedUpdate>({ max: NUM_REMEMBERED });
  /** The same of policies, by version. */
  private readonly policies = new LRUCache<number, PublishedVersion>({ max: NUM_REMEMBERED });

  private constructor(
    private readonly parts: ControlParts,
    readonly runId: string,
    readonly epoch: number,
    /** Number of the newest update; 0 before the first. */
    private newestUpdate: number,
    /** Published versions, ascending. */
    private readonly versions: number[],
    /** Records of stream `control` before this offset have not ended the claim. */
    private readTo: number,
  ) {}

  /**
   * Claims a run, and reads what is there once the store has the claim.
   *
   * @throws RecordingError `RUN_CLAIMED` where another process claims at the same time; `LOG_UNAVAILABLE`, `STORE_BEHIND`
   */
  static async claim(parts: ControlParts, runId: string): Promise<ClaimedRun> {
    const { client, runs } = parts;
    await runs.untilStored();
    const { epoch: before } = await readTrainingPosition(client, runId);
    const payload = { epoch: before + 1, trainerId: `recorder ${process.pid}` };
    const [claim] = listEvents(parts, runId, [{ kind: 'TrainerClaimed', payload }]);
    const offset = await runs.append(claim);
    await runs.untilStored();
    const { claimEventId, epoch, newestUpdate, policyVersions } = await readTrainingPosition(client, runId);
    if (claimEventId !== claim.eventId) throw overtaken(runId);
    return new ClaimedRun(parts, runId, epoch, newestUpdate, [...policyVersions], offset + 1);
  }

  get nextUpdate(): number {
    return this.newestUpdate + 1;
  }

  get nextVersion(): number {
    return (this.versions.at(-1) ?? -1) + 1;
  }

  get policyVersions(): readonly number[] {
    return this.versions;
  }

  /** Whether another process has claimed the run, or it was deleted, before an offset of stream `control` (default: its end). */
  async isOvertaken(before?: number): Promise<boolean> {
    const { log, runs } = this.parts;
    const end = before ?? (await runs.fromLog(log.endOffset('control', 0)));
    while (this.readTo < end) {
      const records = await runs.fromLog(log.read('control', 0, this.readTo));
      if (records.length === 0) return false;
      for (const { offset, bytes } of records) {
        if (offset >= end) return false;
        const envelope = peekEnvelope(bytes);
        if (envelope?.runId === this.runId && OVERTAKING.has(envelope.kind)) return true;
        this.readTo = offset + 1;
      }
    }
    return false;
  }

  /** A published version; null where there is none. */
  async policyOf(version: number): Promise<PublishedVersion | null> {
    return this.policies.get(version) ?? (await readPublishedVersion(this.parts.client, this.runId, version));
  }

  /**
   * Appends events together.
   *
   * @throws RecordingError `INVALID_RECORDS`; `LOG_UNAVAILABLE` where they may have landed; `RUN_CLAIMED` where they don't count, since the claim was
   * lost
   */
  async append(payloads: readonly ControlPayload[]): Promise<void> {
    const events = listEvents(this.parts, this.runId, payloads);
    const offset = await this.parts.runs.append(...events);
    if (await this.isOvertaken(offset)) throw overtaken(this.runId);
    this.readTo = offset + events.length;
    for (const { kind, payload } of payloads) {
      if (kind === 'BatchPlanned') this.newestUpdate = payload.updateNumber;
      if (kind !== 'PolicyPublished') continue;
      this.versions.push(payload.policyVersion);
      this.policies.set(payload.policyVersion, payload);
    }
  }
}

/** @throws RecordingError `INVALID_RECORDS` */
function listEvents(
  { log: { logId }, nowUs }: ControlParts,
  runId: string,
  payloads: readonly ControlPayload[],
): AnyEvent[] {
  const occurredAtUs = nowUs();
  const events = payloads.map(
    (payload) => newControlEvent({ ...payload, logId, runId, occurredAtUs }) as AnyEvent,
  );
  for (const event of events) requireControlEvent(event, FIELDS);
  return events;
}

function overtaken(runId: string): RecordingError {
  const message = `another process records updates of run ${runId}; send the request again, an update with its id`;
  return new RecordingError('RUN_CLAIMED', message, { retriable: true });
}
