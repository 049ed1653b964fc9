import type { Json } from '@retrace/trajectory';
import type { EntropyFloorState } from './entropy-floor.js';
import type { StepGuardState } from './step-guard.js';

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
