/*
 * What an update leaves for the next one beside weights and optimizer, and the settings of an update that follow from it: the coefficient of an
 * adaptive KL term, the weight of the entropy bonus, the guard of optimizer steps, the baselines of roles.
 */
import { adaptKlCoefficient } from '@retrace/algorithms';
import {
  initialKlCoefficient,
  type AdaptiveKlRecipe,
  type EntropyFloorRecipe,
  type Recipe,
} from '@retrace/config';
import type { Json } from '@retrace/trajectory';
import { NEW_GUARD, StepGuard, type StepGuardState } from './steps/step-guard.js';

/**
 * State that an update leaves for the next one beside weights and optimizer. It is recorded in the `UpdateApplied` of the update, so
 * that a trainer which resumes, and a replay, go on from the same numbers.
 */
export interface TrainerState {
  /** Of the adaptive KL term; null: what the recipe starts from. */
  readonly klCoefficient: number | null;
  /** Running mean return of each role; empty at the start. */
  readonly roleBaselines: Readonly<Record<string, number>>;
  /** Null: what the recipe starts from. */
  readonly entropyFloor: EntropyFloorState | null;
  /** Null at the start, and without `optimizer.guard`. */
  readonly guard: StepGuardState | null;
}

/** The state as an earlier update recorded it; null at the start of a run, and for recipes that keep none. */
export function readTrainerState(recorded: Json): TrainerState {
  const state = (recorded ?? {}) as unknown as Partial<TrainerState>;
  const { klCoefficient, roleBaselines = {}, entropyFloor = null, guard = null } = state;
  return { klCoefficient: klCoefficient ?? null, roleBaselines, entropyFloor, guard };
}

/** As it is recorded, without what is empty: null where there is nothing to keep. */
export function recordTrainerState({
  klCoefficient,
  roleBaselines,
  entropyFloor,
  guard,
}: TrainerState): Json {
  const state = {
    ...(klCoefficient === null ? {} : { klCoefficient }),
    ...(Object.keys(roleBaselines).length === 0 ? {} : { roleBaselines }),
    ...(entropyFloor === null ? {} : { entropyFloor: { ...entropyFloor } }),
    ...(guard === null ? {} : { guard: { ...guard } }),
  };
  return Object.keys(state).length === 0 ? null : state;
}

/** Settings of an update that follow from the updates before it. */
export interface Controllers {
  /** β of this update. */
  readonly klCoefficient: number;
  /** Weight of the entropy bonus in this update. */
  readonly entropyCoefficient: number;
  readonly guard: StepGuard;
}

type ControlledRecipe = Pick<Recipe, 'loss' | 'optimizer'>;

/** The settings of an update, from the state that the update before left. */
export function openControllers({ loss, optimizer }: ControlledRecipe, before: TrainerState): Controllers {
  return {
    klCoefficient: before.klCoefficient ?? initialKlCoefficient(loss),
    entropyCoefficient: scheduledEntropyCoefficient(
      loss.entropyCoefficient,
      loss.entropyFloor,
      before.entropyFloor,
    ),
    guard: new StepGuard(optimizer.guard ?? {}, before.guard ?? NEW_GUARD),
  };
}

interface MeasuredUpdate {
  readonly before: TrainerState;
  /** Mean KL from the reference; NaN where nothing was trained. */
  readonly meanKl: number;
  readonly numTrainedEpisodes: number;
  /** Mean entropy of the trained tokens, nats; NaN where nothing was trained. */
  readonly entropy: number;
  /** Baselines of the roles in this update; those of other roles stay. */
  readonly roleBaselines: Readonly<Record<string, number>>;
}

/** The state for the next update, as it is recorded. */
export function recordControllers(
  { loss, optimizer }: ControlledRecipe,
  { klCoefficient, guard }: Controllers,
  { before, meanKl, numTrainedEpisodes, entropy, roleBaselines }: MeasuredUpdate,
): Json {
  return recordTrainerState({
    klCoefficient: nextKlCoefficient(klCoefficient, loss.kl?.adaptive, { meanKl, numTrainedEpisodes }),
    roleBaselines: { ...before.roleBaselines, ...roleBaselines },
    entropyFloor: nextEntropyFloor(loss.entropyCoefficient, loss.entropyFloor, {
      before: before.entropyFloor,
      entropy,
    }),
    guard: optimizer.guard ? guard.state : null,
  });
}

type MeasuredKl = Pick<MeasuredUpdate, 'meanKl' | 'numTrainedEpisodes'>;

/** β for the next update; null where it keeps the recipe's value. */
function nextKlCoefficient(
  klCoefficient: number,
  rule: AdaptiveKlRecipe | null | undefined,
  { meanKl, numTrainedEpisodes }: MeasuredKl,
): number | null {
  if (!rule) return null;
  const numSamples = Number.isFinite(meanKl) ? numTrainedEpisodes : 0;
  return adaptKlCoefficient(klCoefficient, { meanKl: numSamples > 0 ? meanKl : 0, numSamples }, rule);
}

/** State of the controller between updates. */
export interface EntropyFloorState {
  /** Weight of the bonus in updates that use it. */
  readonly coefficient: number;
  /** Mean entropy of the last update that measured it, in nats. */
  readonly entropy: number;
}

/** Weight of the entropy bonus in an update: 0 where the update before left the entropy above the target. */
export function scheduledEntropyCoefficient(
  initial: number,
  floor: EntropyFloorRecipe | null | undefined,
  before: EntropyFloorState | null,
): number {
  if (!floor || before === null) return initial;
  return before.entropy <= floor.target ? before.coefficient : 0;
}

/**
 * Adapts the weight α after an update of mean entropy e: α ← clip(α + change, 0, maxCoefficient) where e < target, and α − change
 * where e > target (Skywork-OR1, arXiv:2505.22312). Null without a floor; unchanged where an update measured no entropy (NaN).
 */
export function nextEntropyFloor(
  initial: number,
  floor: EntropyFloorRecipe | null | undefined,
  { before, entropy }: { readonly before: EntropyFloorState | null; readonly entropy: number },
): EntropyFloorState | null {
  if (!floor) return null;
  if (Number.isNaN(entropy)) return before;
  const { target, change, maxCoefficient = 1 } = floor;
  const current = before?.coefficient ?? initial;
  const moved = current + Math.sign(target - entropy) * change;
  return { coefficient: Math.min(Math.max(moved, 0), maxCoefficient), entropy };
}
