import type { Json } from '@retrace/trajectory';

/**
 * State that an update leaves for the next one beside weights and optimizer. It is recorded in the `UpdateApplied` of the update, so
 * that a trainer which resumes, and a replay, go on from the same numbers.
 */
interface TrainerState {
  /** Of the adaptive KL term; null: what the recipe starts from. */
  readonly klCoefficient: number | null;
  /** Running mean return of each role; empty at the start. */
  readonly roleBaselines: Readonly<Record<string, number>>;
}

/** The state as an earlier update recorded it; null at the start of a run, and for recipes that keep none. */
export function readTrainerState(recorded: Json): TrainerState {
  const state = (recorded ?? {}) as Readonly<Record<string, Json>>;
  const { klCoefficient = null, roleBaselines = {} } = state;
  return {
    klCoefficient: typeof klCoefficient === 'number' ? klCoefficient : null,
    roleBaselines: roleBaselines as Readonly<Record<string, number>>,
  };
}

/** As it is recorded: null where there is nothing to keep. */
export function recordTrainerState({ klCoefficient, roleBaselines }: TrainerState): Json {
  const hasBaselines = Object.keys(roleBaselines).length > 0;
  if (klCoefficient === null && !hasBaselines) return null;
  return { ...(klCoefficient === null ? {} : { klCoefficient }), ...(hasBaselines ? { roleBaselines } : {}) };
}
