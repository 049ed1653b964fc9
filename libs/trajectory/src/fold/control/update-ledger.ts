import type { BatchPlanned, FileRef, Json, TrainerClaimed, UpdateApplied } from '../../events/event.js';

/** The claim in force: its trainer may plan, commit and publish. */
export interface TrainerClaim extends TrainerClaimed {
  readonly eventId: string;
  readonly offset: number;
}

/** A plan, as long as its update is not committed. */
export interface PendingPlan {
  readonly plan: BatchPlanned;
  /** Where its `BatchPlanned` lies. */
  readonly offset: number;
  readonly plannedAtUs: number;
}

/** The last committed update: where a trainer goes on. */
export interface LastUpdate {
  readonly planId: string;
  readonly updateNumber: number;
  readonly stage: BatchPlanned['stage'];
  readonly policyVersionIn: number;
  readonly policyVersionOut: number;
  readonly weights: FileRef;
  readonly optimizer: FileRef;
  readonly trainerState: Json;
  readonly samplerState: Json;
  readonly planOffset: number;
  readonly commitOffset: number;
}

/** What a committed update left to go on from. */
export interface CommittedState {
  readonly updateNumber: number;
  readonly optimizer: FileRef;
}

/** Why an event changed nothing. */
export type LedgerRefusal = 'staleEpoch' | 'duplicate' | 'unknownPlan' | 'conflict';

/**
 * The updates of a run as a ledger: claim → plan → commit.
 *
 * The first claim of an epoch in log order wins, and only a higher epoch replaces it. Plans and commits count while their
 * epoch is the claimed one. A plan without a commit stays pending through any number of later claims: whoever trains next
 * redoes it, under its own epoch.
 */
export class UpdateLedger {
  private currentClaim: TrainerClaim | null = null;
  private readonly pending = new Map<string, PendingPlan>();
  private lastPlannedUpdate = -1;
  private lastPlanId = '';
  private lastCommit: LastUpdate | null = null;
  private readonly committedStates: CommittedState[] = [];

  get claim(): TrainerClaim | null {
    return this.currentClaim;
  }

  /** Planned, not committed, in log order. */
  get pendingPlans(): readonly PendingPlan[] {
    return [...this.pending.values()];
  }

  get lastUpdate(): LastUpdate | null {
    return this.lastCommit;
  }

  /** All committed updates, in log order. */
  get commits(): readonly CommittedState[] {
    return this.committedStates;
  }

  get numUpdates(): number {
    return this.committedStates.length;
  }

  /** Number for the next plan. */
  get nextUpdateNumber(): number {
    return this.lastPlannedUpdate + 1;
  }

  acceptClaim(claim: TrainerClaim): LedgerRefusal | null {
    if (this.currentClaim !== null && claim.epoch <= this.currentClaim.epoch) {
      return claim.eventId === this.currentClaim.eventId ? 'duplicate' : 'staleEpoch';
    }
    this.currentClaim = claim;
    return null;
  }

  holdsEpoch(epoch: number): boolean {
    return this.currentClaim?.epoch === epoch;
  }

  acceptPlan(pending: PendingPlan): LedgerRefusal | null {
    const { plan } = pending;
    if (this.pending.has(plan.planId) || plan.planId === this.lastPlanId) return 'duplicate';
    if (!this.holdsEpoch(plan.epoch)) return 'staleEpoch';
    if (plan.updateNumber <= this.lastPlannedUpdate) return 'conflict';
    this.pending.set(plan.planId, pending);
    this.lastPlannedUpdate = plan.updateNumber;
    this.lastPlanId = plan.planId;
    return null;
  }

  acceptCommit(commit: UpdateApplied, commitOffset: number): LedgerRefusal | null {
    if (this.lastCommit?.planId === commit.planId) return 'duplicate';
    if (!this.holdsEpoch(commit.epoch)) return 'staleEpoch';
    const pending = this.pending.get(commit.planId);
    if (pending === undefined) return 'unknownPlan';
    const { plan, offset } = pending;
    if (commit.updateNumber !== plan.updateNumber) return 'conflict';
    this.pending.delete(commit.planId);
    this.committedStates.push({ updateNumber: plan.updateNumber, optimizer: commit.optimizer });
    this.lastCommit = {
      planId: plan.planId,
      updateNumber: plan.updateNumber,
      stage: plan.stage,
      policyVersionIn: plan.policyVersionIn,
      policyVersionOut: commit.policyVersionOut,
      weights: commit.weights,
      optimizer: commit.optimizer,
      trainerState: commit.trainerState,
      samplerState: plan.samplerState,
      planOffset: offset,
      commitOffset,
    };
    return null;
  }
}
