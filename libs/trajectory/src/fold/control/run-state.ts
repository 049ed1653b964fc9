import type {
  AnyEvent,
  GroupsClosed,
  MetricsLogged,
  RetraceEvent,
  RunEnded,
  RunStarted,
} from '../../events/event.js';
import { closedGroups, type ClosedGroup } from './closed-group.js';
import { GroupPool } from './group-pool.js';
import { episodeOrdinal } from '../../ids/ids.js';
import { PolicyLineage } from './policy-lineage.js';
import { SharedRounds } from './shared-rounds.js';
import { UpdateLedger, type LedgerRefusal } from './update-ledger.js';

/** The last value of one metric. */
export interface LatestMetric {
  readonly source: MetricsLogged['source'];
  readonly name: string;
  readonly step: number;
  /** NaN = not available at that step. */
  readonly value: number;
  readonly occurredAtUs: number;
}

export type Refusal = LedgerRefusal | 'unknownRun';

/** Whether an event changed the state; if not, why. */
export type Applied = { readonly applied: true } | { readonly applied: false; readonly reason: Refusal };

export interface RunStateOptions {
  /** After how many plans a group is used up (default 1). */
  readonly maxTimesSampled?: (group: ClosedGroup) => number;
}

/** A run as its control events tell it; see `ControlFold`. */
export class RunState {
  readonly runId: string;
  readonly started: RunStarted;
  readonly startedAtUs: number;
  readonly policies = new PolicyLineage();
  readonly updates = new UpdateLedger();
  readonly groups: GroupPool;
  /** Rounds that several collectors share. */
  readonly rounds = new SharedRounds();
  private readonly metricsByName = new Map<string, LatestMetric>();
  private runEnded: RunEnded | null = null;
  private runEndedAtUs: number | null = null;
  private endBefore: RunEnded | null = null;

  constructor(event: RetraceEvent<'RunStarted'>, { maxTimesSampled = () => 1 }: RunStateOptions = {}) {
    this.runId = event.runId;
    this.started = event.payload;
    this.startedAtUs = event.occurredAtUs;
    this.groups = new GroupPool(maxTimesSampled);
  }

  /** Null while the run goes on. A claim after the end resumes the run. */
  get ended(): RunEnded | null {
    return this.runEnded;
  }

  /** The end that a claim resumed the run from, until something new is planned; null when there was none. */
  get endBeforeClaim(): RunEnded | null {
    return this.endBefore;
  }

  get endedAtUs(): number | null {
    return this.runEndedAtUs;
  }

  /** The last value of every (source, name). */
  get metrics(): readonly LatestMetric[] {
    return [...this.metricsByName.values()];
  }

  metric(source: MetricsLogged['source'], name: string): LatestMetric | undefined {
    return this.metricsByName.get(`${source} ${name}`);
  }

  /** Staleness of tokens that `behaviorVersion` sampled against the latest policy; null as in `PolicyLineage.staleness`. */
  stalenessOf(behaviorVersion: number): number | null {
    const latest = this.policies.latest;
    return latest === null ? null : this.policies.staleness(behaviorVersion, latest.policyVersion);
  }

  /** Whether the group was closed, as far back as ids are remembered; those of a round that isn't complete too. */
  hasClosed(groupId: string): boolean {
    return this.groups.hasClosed(groupId) || this.rounds.isWaiting(groupId);
  }

  apply(event: AnyEvent, offset: number): Applied {
    switch (event.kind) {
      case 'RunStarted':
        return refused('duplicate');
      case 'RunEnded':
        this.end(event.payload, event.occurredAtUs);
        return APPLIED;
      case 'GroupsClosed':
        return this.closeGroups(event.payload, offset, event.occurredAtUs);
      case 'TrainerClaimed':
        return this.claim(event, offset);
      case 'CollectorClaimed':
        return this.claimShare(event);
      case 'BatchPlanned':
        return this.plan(event, offset);
      case 'UpdateApplied':
        return outcome(this.updates.acceptCommit(event.payload, offset));
      case 'PolicyPublished':
        return this.publish(event);
      case 'MetricsLogged':
        this.logMetrics(event);
        return APPLIED;
      default:
        return APPLIED;
    }
  }

  /** Refused when all of its groups were closed before. */
  private closeGroups(closed: GroupsClosed, offset: number, closedAtUs: number): Applied {
    let numNew = 0;
    for (const group of closedGroups(closed)) {
      if (this.hasClosed(group.groupId)) continue;
      for (const episodeId of group.episodeIds) {
        const ordinal = episodeOrdinal(this.runId, episodeId);
        if (ordinal !== null) this.rounds.passOrdinal(ordinal);
      }
      const counted = this.rounds.close({ group, offset, closedAtUs });
      for (const one of counted) this.groups.close(one.group, one.offset, one.closedAtUs);
      if (counted.length > 0 || this.rounds.isWaiting(group.groupId)) numNew += 1;
    }
    return numNew > 0 ? APPLIED : refused('duplicate');
  }

  /** A claim of a training round that is complete was made before its collector read that. */
  private claimShare({ payload, eventId }: RetraceEvent<'CollectorClaimed'>): Applied {
    if (payload.trainable && payload.round <= this.groups.lastRound) return refused('conflict');
    return outcome(this.rounds.accept({ ...payload, eventId }));
  }

  private end(ended: RunEnded | null, occurredAtUs: number | null): void {
    this.runEnded = ended;
    this.runEndedAtUs = occurredAtUs;
  }

  private claim({ payload, eventId }: RetraceEvent<'TrainerClaimed'>, offset: number): Applied {
    const refusal = this.updates.acceptClaim({ ...payload, eventId, offset });
    if (refusal === null) {
      this.endBefore = this.runEnded ?? this.endBefore;
      this.end(null, null);
    }
    return outcome(refusal);
  }

  private plan({ payload, occurredAtUs }: RetraceEvent<'BatchPlanned'>, offset: number): Applied {
    const refusal = this.updates.acceptPlan({ plan: payload, offset, plannedAtUs: occurredAtUs });
    if (refusal === null) {
      this.endBefore = null;
      this.groups.sample(payload.groupIds);
    }
    return outcome(refusal);
  }

  private publish({ payload, occurredAtUs }: RetraceEvent<'PolicyPublished'>): Applied {
    if (!this.updates.holdsEpoch(payload.epoch)) return refused('staleEpoch');
    return this.policies.add(payload, occurredAtUs) ? APPLIED : refused('duplicate');
  }

  private logMetrics({ payload, occurredAtUs }: RetraceEvent<'MetricsLogged'>): void {
    const { source, step, names, values } = payload;
    names.forEach((name, i) => {
      this.metricsByName.set(`${source} ${name}`, { source, name, step, value: values[i], occurredAtUs });
    });
  }
}

const APPLIED: Applied = { applied: true };

function refused(reason: Refusal): Applied {
  return { applied: false, reason };
}

function outcome(refusal: LedgerRefusal | null): Applied {
  return refusal === null ? APPLIED : refused(refusal);
}
