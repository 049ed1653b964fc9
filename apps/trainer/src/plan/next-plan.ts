import type { Recipe } from '@retrace/config';
import { deriveSeed, Pcg32, shuffle } from '@retrace/random';
import type { BatchPlanned, GroupState, Json, RunState, SamplingBlocked } from '@retrace/trajectory';
import type { BatchSampler } from './batch-sampler.js';
import type { DrawnGroup } from './drawn-group.js';
import { inOrderOfRuns, makePlan } from './make-plan.js';
import { ownGroup } from './own-sampler.js';
import { demonstrations } from './sampler.js';

/** The plan of the next update, and what it was made of. */
export interface PlannedBatch {
  readonly kind: 'plan';
  readonly plan: BatchPlanned;
  /** False for a plan that is in the log already: a trainer before this one did not come to commit it. */
  readonly isNew: boolean;
  /** Groups of a new plan of the policy stage; empty otherwise. */
  readonly groups: readonly DrawnGroup[];
  /** Groups that have become too stale ever to be sampled. */
  readonly tooStale: readonly GroupState[];
}

export type NextPlan =
  | PlannedBatch
  | {
      readonly kind: 'wait';
      readonly reason: string;
      readonly block: SamplingBlocked | null;
      readonly tooStale: readonly GroupState[];
    }
  /** No further update can be made. */
  | { readonly kind: 'exhausted'; readonly reason: string }
  /** All updates are made. */
  | { readonly kind: 'complete' };

interface PlanOptions {
  readonly recipe: Recipe;
  readonly epoch: number;
  readonly rewardVersion: string;
  readonly sampler: BatchSampler;
}

/** The next update to make: a plan that was never committed is redone with the same batch and seed, else a new batch is sampled. */
export async function nextPlan(run: RunState, options: PlanOptions): Promise<NextPlan> {
  const { recipe, sampler } = options;
  const [pending] = run.updates.pendingPlans;
  if (pending) return { kind: 'plan', plan: pending, isNew: false, groups: [], tooStale: [] };
  const imitationUpdates = recipe.imitation?.numUpdates ?? 0;
  const updateNumber = (run.updates.lastUpdate?.updateNumber ?? 0) + 1;
  if (updateNumber > imitationUpdates + recipe.numUpdates) return { kind: 'complete' };
  const policyVersionIn = run.policies.latest?.policyVersion ?? 0;
  if (updateNumber <= imitationUpdates) {
    const batch = imitationBatch(run, recipe, updateNumber);
    if (!batch.ok) return { kind: 'wait', reason: batch.waitingFor, block: null, tooStale: [] };
    const plan = makePlan(batch.groups, { ...options, updateNumber, stage: 'imitation', policyVersionIn });
    return { kind: 'plan', isNew: true, plan, groups: [], tooStale: [] };
  }
  const draw = await sampler.draw(run, updateNumber);
  if (draw.kind !== 'drawn') return draw;
  const groups = inOrderOfRuns(draw.groups);
  const { tooStale } = draw;
  const plan = policyPlan(run, { ...options, updateNumber }, groups);
  return { kind: 'plan', isNew: true, plan, groups, tooStale };
}

/** The plan of a policy update, of groups in the order of `inOrderOfRuns`; others are named in it and not trained. */
export function policyPlan(
  run: RunState,
  options: Omit<PlanOptions, 'sampler'> & { readonly updateNumber: number },
  groups: readonly DrawnGroup[],
  leftOut: readonly DrawnGroup[] = [],
): BatchPlanned {
  const { recipe } = options;
  const policyVersionIn = run.policies.latest?.policyVersion ?? 0;
  const samplerState = readSamplerState(run, recipe);
  return makePlan(groups, { ...options, stage: 'policy', policyVersionIn, samplerState }, leftOut);
}

/** State of the sampler for readers of the log; a trainer goes on from the events, not from this. */
function readSamplerState({ sampling }: RunState, { sampler }: Recipe): Readonly<Record<string, Json>> {
  if (!sampler) return {};
  return { rule: sampler.rule, numDiscards: sampling.numDiscards, numInserted: sampling.numInserted };
}

/** Demonstrations drawn without replacement inside one update, afresh in each. */
function imitationBatch(run: RunState, recipe: Recipe, updateNumber: number) {
  const { numEpisodes = 0, episodesPerUpdate = 0 } = recipe.imitation ?? {};
  const available: GroupState[] = demonstrations(run.groups.all());
  if (available.length < numEpisodes) {
    return {
      ok: false as const,
      waitingFor: `demonstrations: ${available.length} of ${numEpisodes} are there`,
    };
  }
  shuffle(available, new Pcg32(deriveSeed(recipe.seed, 'imitation', updateNumber)));
  const groups = available.slice(0, episodesPerUpdate).map((group) => ownGroup(group, 0, null));
  return { ok: true as const, groups };
}
