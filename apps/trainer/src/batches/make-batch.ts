import { recordedRecipe, whatIfRecipe, type Recipe } from '@retrace/config';
import { deriveSeed } from '@retrace/environments';
import type { BatchQuestion } from '@retrace/process';
import type { RewardScorer } from '@retrace/scoring';
import { OWN_GROUPS_ONLY } from '@retrace/trajectory';
import {
  Replayer,
  type PlannedEpisodes,
  type RecordedInputs,
  type ReplaySource,
} from '../replay/replayer.js';
import { TrainerError } from '../trainer-error.js';
import { prepareUpdate, type PrepareInputs, type PreparedUpdate } from '../update/prepare-update.js';
import { asksPolicy } from '../update/update-needs.js';

export interface MakeBatchOptions
  extends
    ReplaySource,
    Pick<BatchQuestion, 'updateNumber' | 'groups' | 'seed' | 'assignments' | 'temperature'> {
  /** Rewards in place of those of the recipe; null: those. */
  readonly rewards: Pick<RewardScorer, 'score' | 'readsTexts'> | null;
  /** Called before the engine is opened, which few batches need. */
  readonly beforeEngine?: () => Promise<unknown>;
  /** Called before updates are made again, to get to the policy that the batch is read by. */
  readonly onRecompute?: (from: number, to: number) => void;
}

/** A batch of a run, up to where an optimizer would take it. */
export interface MadeBatch {
  readonly inputs: Pick<PrepareInputs, 'plan' | 'columns' | 'recipe'>;
  readonly prepared: PreparedUpdate;
}

/**
 * Makes the batch of an update for another trainer: the episodes of an update that was committed, or groups of the run as the next update would read them.
 * Rewards, advantages, corrections and weights are computed as for an update of this run; no optimizer step is made and nothing is recorded.
 *
 * The engine is opened only where the recipe reads of the policy what was not recorded.
 *
 * @throws TrainerError as `prepareUpdate`; `UPDATE_UNKNOWN`, `EPISODES_CHANGED`, `NOT_REPLAYABLE`, `BATCH_UNSUPPORTED`
 * @throws ConfigError `RECIPE_INVALID`, `WHAT_IF_INVALID`
 */
export async function makeBatch(options: MakeBatchOptions): Promise<MadeBatch> {
  const { temperature, assignments, updateNumber } = options;
  const replayer = await Replayer.read(options, temperature === null ? null : recordedRecipe(temperature));
  try {
    const recipe = whatIfRecipe(replayer.recipe, assignments);
    const inputs = await readInputs(replayer, recipe, options);
    refuseOtherStages(inputs);
    const number = inputs.plan.updateNumber;
    if (!asksPolicy(recipe, inputs.reference !== null))
      return { inputs, prepared: await prepareUpdate({ ...inputs, engine: null }) };
    if (temperature !== null) throw noPolicy();
    await options.beforeEngine?.();
    await replayer.openEngine();
    await replayer.goBefore(number, options.onRecompute);
    if (updateNumber !== null) await replayer.takeEngineOf(updateNumber);
    const { engine } = replayer;
    const prepared = await replayer.readable(number, () => prepareUpdate({ ...inputs, engine }));
    return { inputs, prepared };
  } finally {
    await replayer.close();
  }
}

async function readInputs(
  replayer: Replayer,
  recipe: Recipe,
  options: MakeBatchOptions,
): Promise<RecordedInputs> {
  const { updateNumber } = options;
  const isSame = JSON.stringify(recipe.reward) === JSON.stringify(replayer.recipe.reward);
  const rewards = options.rewards ?? (isSame ? replayer.rewards : await replayer.loadRewards(recipe.reward));
  if (updateNumber === null)
    return replayer.inputsFor(planOf(replayer, recipe, options), { recipe, rewards });
  const changes = { recipe, ...(rewards !== replayer.rewards && { rewards, recordedRewards: null }) };
  return replayer.inputsOf(updateNumber, changes);
}

/** A plan of the next update that names these groups; nobody records it. */
function planOf(
  { newestUpdate, recorded }: Replayer,
  recipe: Recipe,
  { groups, seed }: Pick<BatchQuestion, 'groups' | 'seed'>,
): PlannedEpisodes {
  return {
    ...OWN_GROUPS_ONLY,
    stage: 'policy',
    updateNumber: newestUpdate + 1,
    policyVersionIn: Math.max(0, ...recorded.policies.keys()),
    groupIds: groups.map(({ groupId }) => groupId),
    episodeIds: groups.flatMap(({ episodeIds }) => episodeIds),
    seed: deriveSeed(recipe.seed, 'batch', seed),
  };
}

function refuseOtherStages({ plan, recipe }: Pick<RecordedInputs, 'plan' | 'recipe'>): void {
  const other =
    plan.stage === 'imitation'
      ? 'is one of imitation, which has no advantages'
      : recipe.preference
        ? 'compares pairs of episodes (`preference`), which have no advantages'
        : null;
  if (other === null) return;
  throw new TrainerError(
    'BATCH_UNSUPPORTED',
    `update ${plan.updateNumber} ${other}; must be a policy update`,
  );
}

function noPolicy(): TrainerError {
  return new TrainerError(
    'ENGINE_NEEDED',
    'this batch reads values or logprobs of a policy, and a recorded run has none; choose an estimator and a loss that read neither',
  );
}
