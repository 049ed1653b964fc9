import {
  bestVersions,
  isValidatedAfter,
  type CheckpointRecipe,
  type KeptWeightsRecipe,
  type Recipe,
  withPresentFields,
} from '@retrace/config';
import type { CheckpointFile, CommittedState, PolicyPublished, RunState } from '@retrace/trajectory';
import { referencePolicy } from '../update/update-inputs.js';

/** The parts of a recipe that say what is kept; a run that another program began may lack them, and a recorded one has none. */
type RetentionRecipe = Partial<
  Pick<Recipe, 'loss' | 'imitation' | 'preference' | 'collection' | 'evaluation'>
> & {
  readonly checkpoint?: Partial<CheckpointRecipe>;
};

/** The recipe of a run, as far as it is one. */
function retentionRecipe({ started }: RunState): RetentionRecipe {
  return withPresentFields((started.recipe ?? {}) as Record<string, unknown>);
}

interface KeptCheckpoints {
  readonly weights: readonly CheckpointFile[];
  readonly optimizers: readonly CheckpointFile[];
}

/**
 * The checkpoint files of a run that its recipe keeps, and those that a resume, a replay from a kept optimizer state, a reference policy or a
 * validation to come needs, whatever the recipe says. A version that is not kept once is never kept again.
 */
export function keptCheckpoints(run: RunState): KeptCheckpoints {
  const recipe = retentionRecipe(run);
  const states = keptStates(run.updates.commits, recipe.checkpoint ?? {});
  const resumable = new Set(states.map(({ updateNumber }) => updateNumber));
  return {
    optimizers: states.map(({ optimizer }) => optimizer),
    weights: [
      ...keptPolicies(run, recipe, resumable).map(({ weights }) => weights),
      ...publishedReference(recipe, run),
    ],
  };
}

/**
 * The published policies of a run that goes on which some process will load: the newest, which collectors play, those that a validation or test
 * to come measures, and the one that updates are compared with. In the order of their versions.
 */
export function neededPolicies(run: RunState): readonly PolicyPublished[] {
  if (run.ended !== null) return [];
  const recipe = retentionRecipe(run);
  const policies = [...run.policies.all()];
  const references = new Set(publishedReference(recipe, run).map(({ sha256 }) => sha256));
  const kept = new Set(keptCheckpoints(run).weights.map(({ sha256 }) => sha256));
  const best = new Set(recipe.evaluation?.numTestEpisodes ? bestVersions(run.validationSuccess, 1) : []);
  const numPlayed = (recipe.collection?.maxStaleness ?? 0) + 2;
  return policies.filter(
    (policy, position) =>
      kept.has(policy.weights.sha256) &&
      (policies.length - position <= numPlayed ||
        awaitsValidation(policy, run, recipe) ||
        best.has(policy.policyVersion) ||
        references.has(policy.weights.sha256)),
  );
}

/**
 * Places in the engine that made them of the policies of a run that goes on which nobody will ask for there: no resume, no replay from a kept state, no sampler, and
 * no reference.
 */
export function staleLocations(run: RunState): readonly string[] {
  if (run.ended !== null) return [];
  const recipe = retentionRecipe(run);
  const states = keptStates(run.updates.commits, recipe.checkpoint ?? {});
  const resumable = new Set(states.map(({ updateNumber }) => updateNumber));
  const needed = new Set(neededPolicies(run));
  const policies = [...run.policies.all()];
  const isKept = (policy: PolicyPublished) => needed.has(policy) || resumable.has(policy.updateNumber);
  // An update that makes no step leaves the weights where they are.
  const kept = new Set(['', ...policies.filter(isKept).map(({ location }) => location)]);
  return policies.map(({ location }) => location).filter((location) => !kept.has(location));
}

/** Whether a validation of the version is to come. */
function awaitsValidation(
  { policyVersion, updateNumber }: PolicyPublished,
  { validationSuccess }: Pick<RunState, 'validationSuccess'>,
  { evaluation }: RetentionRecipe,
): boolean {
  const lastValidated = Math.max(-1, ...validationSuccess.keys());
  return (
    evaluation !== undefined && isValidatedAfter(updateNumber, evaluation) && policyVersion > lastValidated
  );
}

/** The version that updates are compared with; none where the reference moves, since the optimizer states hold that one. */
function publishedReference(recipe: RetentionRecipe, run: RunState): CheckpointFile[] {
  if (!recipe.loss) return [];
  const reference = referencePolicy(
    recipe as Pick<Recipe, 'loss' | 'imitation' | 'preference'>,
    run.policies,
  );
  return reference?.kind === 'published' ? [reference.weights] : [];
}

function keptStates(
  commits: readonly CommittedState[],
  rules: Partial<CheckpointRecipe>,
): readonly CommittedState[] {
  return commits.filter(({ updateNumber }, position) =>
    keepsState({ updateNumber, numNewer: commits.length - 1 - position }, rules),
  );
}

/** A version or an update by its number, and how many newer ones there are. */
interface Place {
  readonly updateNumber: number;
  readonly numNewer: number;
}

function keepsState(
  { updateNumber, numNewer }: Place,
  { keepLast, keepEvery }: Partial<CheckpointRecipe>,
): boolean {
  if (keepLast === undefined || keepEvery === undefined) return true;
  return numNewer < keepLast || updateNumber % keepEvery === 0;
}

/** Whether a version is kept for its number only. */
function keepsVersion(
  { updateNumber, numNewer }: Place,
  { rules, maxStaleness }: { readonly rules: KeptWeightsRecipe; readonly maxStaleness: number },
): boolean {
  // A collector may be about to load a version that is as old as the recipe allows while the trainer publishes one more.
  return numNewer < Math.max(rules.keepLast, maxStaleness + 2) || updateNumber % rules.keepEvery === 0;
}

function keptPolicies(
  run: RunState,
  recipe: RetentionRecipe,
  resumable: ReadonlySet<number>,
): readonly PolicyPublished[] {
  const policies = [...run.policies.all()];
  const rules = recipe.checkpoint?.weights;
  if (!rules) return policies;
  const maxStaleness = recipe.collection?.maxStaleness ?? 0;
  const best = new Set(bestVersions(run.validationSuccess, rules.keepBest));
  return policies.filter((policy, position) => {
    const { policyVersion, updateNumber } = policy;
    const place = { updateNumber, numNewer: policies.length - 1 - position };
    return (
      keepsVersion(place, { rules, maxStaleness }) ||
      resumable.has(updateNumber) ||
      best.has(policyVersion) ||
      awaitsValidation(policy, run, recipe)
    );
  });
}

/** How many files of weights and of optimizer state a run of the recipe has at most when it has ended. */
export function countKeptCheckpoints({
  numUpdates,
  imitation,
  checkpoint,
  collection: { maxStaleness },
}: Pick<Recipe, 'numUpdates' | 'imitation' | 'checkpoint' | 'collection'>): {
  readonly numWeights: number;
  readonly numOptimizers: number;
} {
  const rules = checkpoint.weights;
  const total = numUpdates + (imitation?.numUpdates ?? 0);
  let [numWeights, numOptimizers] = [0, 0];
  for (let updateNumber = 0; updateNumber <= total; updateNumber++) {
    const place = { updateNumber, numNewer: total - updateNumber };
    const isState = updateNumber > 0 && keepsState(place, checkpoint);
    numOptimizers += Number(isState);
    numWeights += Number(isState || !rules || keepsVersion(place, { rules, maxStaleness }));
  }
  // The best, and the reference of a KL term, may be among the others.
  const numOthers = rules ? rules.keepBest + 1 : 0;
  return { numWeights: Math.min(total + 1, numWeights + numOthers), numOptimizers };
}
