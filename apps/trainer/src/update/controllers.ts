import type { Recipe } from '@retrace/config';
import type { Json } from '@retrace/trajectory';
import { entropyCoefficientOf, nextEntropyFloor } from './entropy-floor.js';
import { nextKlCoefficient } from './kl-coefficient.js';
import { NEW_GUARD, StepGuard } from './step-guard.js';
import { recordTrainerState, type TrainerState } from './trainer-state.js';

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
    klCoefficient: before.klCoefficient ?? loss.klCoefficient,
    entropyCoefficient: entropyCoefficientOf(loss.entropyCoefficient, loss.entropyFloor, before.entropyFloor),
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
    klCoefficient: nextKlCoefficient(klCoefficient, loss.adaptiveKl, { meanKl, numTrainedEpisodes }),
    roleBaselines: { ...before.roleBaselines, ...roleBaselines },
    entropyFloor: nextEntropyFloor(loss.entropyCoefficient, loss.entropyFloor, {
      before: before.entropyFloor,
      entropy,
    }),
    guard: optimizer.guard ? guard.state : null,
  });
}
