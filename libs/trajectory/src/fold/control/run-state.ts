import type { UpdateApplied } from '../../events/commit-events.js';
import type {
  BatchPlanned,
  GroupsClosed,
  GroupsDiscarded,
  MetricsLogged,
  RunEnded,
  RunStarted,
} from '../../events/control-events.js';
import type { PolicyValidated } from '../../events/validation-events.js';
import type { AnyEvent, RetraceEvent } from '../../events/event.js';
import { episodeOrdinal, isEvaluationEpisode } from '../../ids/ids.js';
import { closedGroups, type ClosedGroup } from './closed-group.js';
import { GroupPool } from './group-pool.js';
import { ownGroupIds } from './planned-runs.js';
import { PolicyLineage } from './policy-lineage.js';
import { SamplingLedger } from './sampling-ledger.js';
import { SharedRounds } from './shared-rounds.js';
import { UpdateLedger, type LedgerRefusal } from './update-ledger.js';

/** The last value of one metric. */
export interface LatestMetric {
  readonly source: MetricsLogged['source'];
  readonly name: string;
  readonly step: number;
  /** NaN = not available at that step. */
  readonly value: number;
}

/** Whether an event changed the state, and the reason if it did not. */
export type Applied =
  | { readonly applied: true }
  | { readonly applied: false; readonly reason: LedgerRefusal | 'unknownRun' };

export interface RunStateOptions {
  /** The number of plans after which a group of that run is used up (default 1). */
  readonly maxTimesSampled?: (group: ClosedGroup, run: RunStarted) => number;
}

/** The state of a run that its control events add up to; see `ControlFold`. */
export class RunState {
  readonly runId: string;
  readonly started: RunStarted;
  readonly policies = new PolicyLineage();
  readonly updates = new UpdateLedger();
  readonly groups: GroupPool;
  readonly sampling = new SamplingLedger();
  /** Rounds that several collectors share. */
  readonly rounds = new SharedRounds();
  private readonly metricsByName = new Map<string, LatestMetric>();
  private readonly validations = new Map<number, number>();
  private readonly validated = new Set<string>();
  private readonly deleted = new Set<string>();
  private evaluationOrdinal = 0;
  private runEnded: RunEnded | null = null;
  private endBefore: RunEnded | null = null;
  private baselinesMeasured = false;

  constructor(event: RetraceEvent<'RunStarted'>, { maxTimesSampled = () => 1 }: RunStateOptions = {}) {
    this.runId = event.runId;
    this.started = event.payload;
    this.groups = new GroupPool((group) => maxTimesSampled(group, event.payload));
  }

  /** The end of the run; null while it continues. A claim after the end resumes it, unless it is a recorded one. */
  get ended(): RunEnded | null {
    return this.runEnded;
  }

  /** The end from which a claim resumed the run, until something new is planned; null when there was none. */
  get endBeforeClaim(): RunEnded | null {
    return this.endBefore;
  }

  /** Ids of its episodes that were deleted. */
  get deletedEpisodes(): ReadonlySet<string> {
    return this.deleted;
  }

  /** Whether its baselines are known. */
  get hasBaselines(): boolean {
    return this.baselinesMeasured || this.started.baselines.length > 0;
  }

  /** The last value of every (source, name). */
  get metrics(): readonly LatestMetric[] {
    return [...this.metricsByName.values()];
  }

  metric(source: MetricsLogged['source'], name: string): LatestMetric | undefined {
    return this.metricsByName.get(`${source} ${name}`);
  }

  /** Validation success by policy version; where a version was validated twice the first counts. */
  get validationSuccess(): ReadonlyMap<number, number> {
    return this.validations;
  }

  /** The first ordinal above those of all closed episodes whose id is of `evaluationEpisodeIdFor`. */
  get nextEvaluationOrdinal(): number {
    return this.evaluationOrdinal;
  }

  /** Staleness, against the latest policy, of tokens that `behaviorVersion` sampled; null as in `PolicyLineage.staleness`. */
  stalenessOf(behaviorVersion: number): number | null {
    const latest = this.policies.latest;
    return latest === null ? null : this.policies.staleness(behaviorVersion, latest.policyVersion);
  }

  /** Whether the group was closed, as far back as ids are remembered; its round may still be incomplete. */
  hasClosed(groupId: string): boolean {
    return this.groups.hasClosed(groupId) || this.rounds.isWaiting(groupId);
  }

  apply(event: AnyEvent, offset: number): Applied {
    switch (event.kind) {
      case 'RunStarted':
        return outcome('duplicate');
      case 'RunEnded':
        this.runEnded = event.payload;
        return APPLIED;
      case 'GroupsClosed':
        return this.closeGroups(event.payload, offset);
      case 'TrainerClaimed':
        return this.claim(event);
      case 'CollectorClaimed':
        return this.claimShare(event);
      case 'BatchPlanned':
        return this.plan(event.payload);
      case 'UpdateApplied':
        return this.commit(event.payload);
      case 'GroupsDiscarded':
        return this.discard(event.payload);
      case 'PolicyPublished':
        if (!this.updates.holdsEpoch(event.payload.epoch)) return outcome('staleEpoch');
        return outcome(this.policies.add(event.payload, event.occurredAtUs) ? null : 'duplicate');
      case 'PolicyValidated':
        return this.validate(event.payload);
      case 'MetricsLogged':
        this.logMetrics(event.payload);
        return APPLIED;
      case 'BaselinesMeasured':
        this.baselinesMeasured = true;
        return APPLIED;
      case 'EpisodesDeleted':
        for (const episodeId of event.payload.episodeIds) this.deleted.add(episodeId);
        return APPLIED;
      default:
        return APPLIED;
    }
  }

  /** Refuses an event whose groups were all closed before. */
  private closeGroups(closed: GroupsClosed, offset: number): Applied {
    let numNew = 0;
    for (const group of closedGroups(closed)) {
      if (this.hasClosed(group.groupId)) continue;
      for (const episodeId of group.episodeIds) {
        this.passOrdinal(group, episodeId);
      }
      const counted = this.rounds.close({ ...group, offset });
      for (const one of counted) this.groups.close(one);
      this.sampling.insert(counted.filter(isForTraining).length);
      if (counted.length > 0 || this.rounds.isWaiting(group.groupId)) numNew += 1;
    }
    return outcome(numNew > 0 ? null : 'duplicate');
  }

  private passOrdinal({ split }: ClosedGroup, episodeId: string): void {
    const ordinal = episodeOrdinal(this.runId, episodeId);
    if (ordinal === null) return;
    // Training episodes never have such ids, and the check costs a hash.
    if (split !== 'train' && isEvaluationEpisode(this.runId, episodeId))
      this.evaluationOrdinal = Math.max(this.evaluationOrdinal, ordinal + 1);
    else this.rounds.passOrdinal(ordinal);
  }

  /** Refuses a second validation of a version on a split. */
  private validate({ split, policyVersion }: PolicyValidated): Applied {
    const key = `${split} ${policyVersion}`;
    if (this.validated.has(key)) return outcome('duplicate');
    this.validated.add(key);
    return APPLIED;
  }

  private claim({ payload, eventId }: RetraceEvent<'TrainerClaimed'>): Applied {
    const refusal = this.updates.acceptClaim({ ...payload, eventId });
    // The end of a recorded run ends only its episodes; a trainer outside may still learn from them.
    if (refusal === null && this.started.runKind === 'trained') {
      this.endBefore = this.runEnded ?? this.endBefore;
      this.runEnded = null;
    }
    return outcome(refusal);
  }

  private plan(plan: BatchPlanned): Applied {
    const refusal = this.updates.acceptPlan(plan);
    if (refusal === null) {
      this.endBefore = null;
      this.sampling.plan(plan);
      this.groups.sample(ownGroupIds(plan));
    }
    return outcome(refusal);
  }

  private commit(commit: UpdateApplied): Applied {
    const plan = this.updates.pendingPlan(commit.planId);
    const refusal = this.updates.acceptCommit(commit);
    const { groupPriorities } = commit;
    if (refusal === null && plan !== undefined && groupPriorities !== null) {
      this.sampling.prioritize(plan, groupPriorities);
      plan.groupIds.forEach((groupId, g) => {
        const isOwn = (plan.groupRuns?.[g] ?? 0) === 0;
        if (isOwn && !Number.isNaN(groupPriorities[g])) this.groups.prioritize(groupId, groupPriorities[g]);
      });
    }
    return outcome(refusal);
  }

  /** Refuses an event whose groups are all gone, as after a retried append. */
  private discard(discarded: GroupsDiscarded): Applied {
    const groups = discarded.groupIds.flatMap((groupId) => this.groups.discard(groupId) ?? []);
    if (groups.length === 0) return outcome('duplicate');
    this.sampling.discard(discarded, groups);
    return APPLIED;
  }

  /** Refuses a claim of a training round that is complete: its collector had not read that yet. */
  private claimShare({ payload, eventId }: RetraceEvent<'CollectorClaimed'>): Applied {
    if (payload.trainable && payload.round <= this.groups.lastRound) return outcome('conflict');
    return outcome(this.rounds.accept({ ...payload, eventId }));
  }

  private logMetrics({ source, step, names, values }: MetricsLogged): void {
    names.forEach((name, i) => {
      this.metricsByName.set(`${source} ${name}`, { source, name, step, value: values[i] });
      const isValidation = source === 'evaluation' && name === 'validation/success';
      if (isValidation && !this.validations.has(step)) this.validations.set(step, values[i]);
    });
  }
}

function isForTraining({ trainable, split, reason }: ClosedGroup): boolean {
  return trainable && split === 'train' && reason !== 'abandoned';
}

const APPLIED: Applied = { applied: true };

function outcome(refusal: LedgerRefusal | null): Applied {
  return refusal === null ? APPLIED : { applied: false, reason: refusal };
}
