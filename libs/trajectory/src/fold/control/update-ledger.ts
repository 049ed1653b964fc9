import type { TrainerClaimed, UpdateApplied } from '../../events/commit-events.js';
import type { BatchPlanned } from '../../events/control-events.js';

/** The claim in force: its trainer may plan, commit and publish. */
export interface TrainerClaim extends TrainerClaimed {
  readonly eventId: string;
}

/** The parts of a commit that are kept for every update. */
export type CommittedState = Pick<UpdateApplied, 'updateNumber' | 'optimizer'>;

/** Metric of a commit: tokens that the update learned from. Earlier commits may lack it, and count as updates that did. */
export const LEARNED_TOKENS_METRIC = 'train/numLearnedTokens';

/** Why an event changed nothing. */
export type LedgerRefusal = 'staleEpoch' | 'duplicate' | 'unknownPlan' | 'conflict';

/**
 * The updates of a run as a ledger: claim → plan → commit.
 *
 * The first claim of an epoch in log order wins, and only a higher epoch replaces it. Plans and commits count while their
 * epoch is the claimed one. A plan without a commit stays pending through any number of later claims: the next trainer
 * redoes it under its own epoch.
 */
export class UpdateLedger {
  private currentClaim: TrainerClaim | null = null;
  private readonly pending = new Map<string, BatchPlanned>();
  private lastPlan: Pick<BatchPlanned, 'planId' | 'updateNumber'> = { planId: '', updateNumber: -1 };
  private lastCommit: UpdateApplied | null = null;
  private readonly committedStates: CommittedState[] = [];
  private numLearning = 0;

  get claim(): TrainerClaim | null {
    return this.currentClaim;
  }

  /** Plans without a commit, in log order. */
  get pendingPlans(): readonly BatchPlanned[] {
    return [...this.pending.values()];
  }

  /** The plan of that id, while it is pending. */
  pendingPlan(planId: string): BatchPlanned | undefined {
    return this.pending.get(planId);
  }

  /** The last commit, from which a trainer continues. */
  get lastUpdate(): UpdateApplied | null {
    return this.lastCommit;
  }

  /** All committed updates, in log order. */
  get commits(): readonly CommittedState[] {
    return this.committedStates;
  }

  get numUpdates(): number {
    return this.committedStates.length;
  }

  /** Committed updates that learned from at least one token. */
  get numLearningUpdates(): number {
    return this.numLearning;
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

  acceptPlan(plan: BatchPlanned): LedgerRefusal | null {
    const { planId, updateNumber } = plan;
    if (this.pending.has(planId) || planId === this.lastPlan.planId) return 'duplicate';
    if (!this.holdsEpoch(plan.epoch)) return 'staleEpoch';
    if (updateNumber <= this.lastPlan.updateNumber) return 'conflict';
    this.pending.set(planId, plan);
    this.lastPlan = { planId, updateNumber };
    return null;
  }

  acceptCommit(commit: UpdateApplied): LedgerRefusal | null {
    const { planId, updateNumber, optimizer } = commit;
    if (this.lastCommit?.planId === planId) return 'duplicate';
    if (!this.holdsEpoch(commit.epoch)) return 'staleEpoch';
    const plan = this.pending.get(planId);
    if (plan === undefined) return 'unknownPlan';
    if (updateNumber !== plan.updateNumber) return 'conflict';
    this.pending.delete(planId);
    this.committedStates.push({ updateNumber, optimizer });
    if (commit.metricValues[commit.metricNames.indexOf(LEARNED_TOKENS_METRIC)] !== 0) this.numLearning += 1;
    this.lastCommit = commit;
    return null;
  }
}
