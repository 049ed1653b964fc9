import {
  initialKlCoefficient,
  proximalPolicy,
  recordedRecipe,
  whatIfRecipe,
  type Recipe,
} from '@retrace/config';
import { deriveSeed } from '@retrace/random';
import type { BatchQuestion } from '@retrace/process';
import type { RewardScorer } from '@retrace/rewards/scoring';
import { OWN_GROUPS_ONLY } from '@retrace/trajectory';
import {
  Replayer,
  type PlannedEpisodes,
  type RecordedInputs,
  type ReplaySource,
} from '../replay/replayer.js';
import { TrainerError } from '../trainer-error.js';
import { prepareUpdate, type PreparedUpdate } from '../update/prepare-update.js';
import { asksPolicy } from '../update/update-inputs.js';

export interface MakeBatchOptions
  extends
    ReplaySource,
    Pick<
      BatchQuestion,
      'updateNumber' | 'groups' | 'seed' | 'assignments' | 'temperature' | 'rewardVersion'
    > {
  /** The stored rewards of `rewardVersion`; null without one: those of the recipe. */
  readonly rewards: Pick<RewardScorer, 'score' | 'readsTexts'> | null;
  /** Called before the engine is opened, which few batches need. */
  readonly beforeEngine?: () => Promise<unknown>;
  /** Called before updates are made again, to get to the policy that the batch is read by. */
  readonly onRecompute?: (from: number, to: number) => void;
}

/** A batch of a run, up to where an optimizer would take it. */
export interface MadeBatch {
  readonly runId: string;
  /** Version of its rewards. */
  readonly rewardVersion: string;
  readonly inputs: Pick<RecordedInputs, 'plan' | 'columns' | 'recipe'>;
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
    const { rewardVersion, inputs } = await readInputs(replayer, recipe, options);
    const said = { runId: options.runId, rewardVersion, inputs };
    refuseUnsupported(inputs, updateNumber);
    const number = inputs.plan.updateNumber;
    const hasPolicy = temperature === null;
    if (!hasPolicy && initialKlCoefficient(recipe.loss) !== 0) throw noReference();
    if (!hasPolicy || !asksPolicy(recipe, inputs.reference !== null))
      return { ...said, prepared: await prepareUpdate({ ...inputs, engine: null }) };
    await options.beforeEngine?.();
    await replayer.openEngine();
    await replayer.goBefore(number, options.onRecompute);
    const ofKind = updateNumber ?? replayer.newestUpdate;
    if (ofKind > 0) await replayer.takeEngineOf(ofKind);
    const { engine } = replayer;
    const prepared = await replayer.readable(number, () => prepareUpdate({ ...inputs, engine }));
    return { ...said, prepared };
  } finally {
    await replayer.close();
  }
}

async function readInputs(
  replayer: Replayer,
  recipe: Recipe,
  options: MakeBatchOptions,
): Promise<{ readonly rewardVersion: string; readonly inputs: RecordedInputs }> {
  const { updateNumber } = options;
  const isSame = JSON.stringify(recipe.reward) === JSON.stringify(replayer.recipe.reward);
  const takesOwn = isSame || options.rewards !== null;
  const scorer = takesOwn ? replayer.rewards : await replayer.loadRewards(recipe.reward);
  const rewards = options.rewards ?? scorer;
  const rewardVersion = options.rewardVersion ?? scorer.version;
  if (updateNumber === null) {
    const plan = makePlan(replayer, recipe, options);
    return { rewardVersion, inputs: await replayer.inputsFor(plan, { recipe, rewards }) };
  }
  const changes = {
    ...(options.assignments.length > 0 && { recipe }),
    ...(rewards !== replayer.rewards && { rewards, recordedRewards: null }),
  };
  return { rewardVersion, inputs: await replayer.inputsOf(updateNumber, changes) };
}

/** A plan of the next update that names these groups; nobody records it. */
function makePlan(
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

/** @throws TrainerError `BATCH_UNSUPPORTED` for what no columns of one batch say */
function refuseUnsupported({ plan, recipe }: RecordedInputs, updateNumber: number | null): void {
  const reason = unsupported(recipe, {
    isImitation: plan.stage === 'imitation',
    isDrawn: updateNumber === null,
  });
  if (reason === null) return;
  const what = updateNumber === null ? 'groups that are drawn' : `update ${plan.updateNumber}`;
  throw new TrainerError('BATCH_UNSUPPORTED', `there is no batch of ${what}: ${reason}`);
}

function unsupported(
  recipe: Recipe,
  { isImitation, isDrawn }: { readonly isImitation: boolean; readonly isDrawn: boolean },
): string | null {
  if (isImitation) return 'imitation has no advantages';
  if (recipe.preference)
    return 'the recipe compares pairs of episodes (`preference`), which have no advantages';
  if (proximalPolicy(recipe) === 'interpolated')
    return 'the proximal policy is interpolated (`loss.rolloutCorrection.proximal`), and moves with each optimizer step';
  if (isDrawn && recipe.distillation?.teacher.endpoint)
    return 'the teacher is a server, which is asked about committed updates only';
  return null;
}

function noReference(): TrainerError {
  const what = 'loss.kl.coefficient compares with a reference policy, and a recorded run has none';
  return new TrainerError('ENGINE_NEEDED', `${what}; must be 0`);
}
