import { getAdvantageEstimator } from '@retrace/algorithms';
import { leastRatioRoom } from '@retrace/algorithms/sampling';
import { proximalPolicy } from './algorithm-problems.js';
import type { DataSourceRecipe } from './data-recipe.js';
import type { TeacherRecipe } from './distillation-recipe.js';
import type { Recipe } from './recipe.js';
import { PRIORITIES, type SamplerRecipe } from './sampler-recipe.js';

const OWN: readonly DataSourceRecipe[] = [{ from: 'own' }];

/** The sources of a recipe's updates; a recipe without `data` trains on what is collected for it. */
export function dataSources({ data }: Pick<Recipe, 'data'>): readonly DataSourceRecipe[] {
  return data?.sources ?? OWN;
}

/** Whether episodes are collected to be trained on. */
export function collectsForTraining(recipe: Pick<Recipe, 'data'>): boolean {
  return dataSources(recipe).some(({ from }) => from === 'own');
}

/** Whether episodes are played to be trained on, by the policy or by an agent that it imitates. */
export function needsCollector(recipe: Pick<Recipe, 'data' | 'imitation'>): boolean {
  return collectsForTraining(recipe) || Boolean(recipe.imitation);
}

/** Whether policies of the run are validated or tested. */
export function needsValidator({ evaluation }: Pick<Recipe, 'evaluation'>): boolean {
  return evaluation.everyUpdates > 0 || evaluation.numTestEpisodes > 0;
}

/** Names the setting that compares the episodes of a group, so that no update may have half of one; null where nothing does. */
export function comparesGroups({
  advantage,
  preference,
  sampler,
}: Pick<Recipe, 'advantage' | 'preference' | 'sampler'>): string | null {
  if (preference) return `preference.loss ${preference.loss}`;
  if (getAdvantageEstimator(advantage.estimator).usesGroups)
    return `advantage.estimator ${advantage.estimator}`;
  const { zeroVariance = 'keep' } = sampler ?? {};
  return zeroVariance === 'keep' ? null : `sampler.zeroVariance ${zeroVariance}`;
}

/** The recipe as its user wrote it: without what its sources had when a run of it began, and what followed from that. */
export function withoutContents({ initFrom, distillation, reward, ...rest }: Recipe): object {
  const { source: _source, ...asked } = initFrom ?? {};
  const components = reward.components.map(withoutFilledPlace);
  const recipe = {
    ...rest,
    reward: { ...reward, components },
    ...(initFrom && { initFrom: asked }),
    ...(distillation && { distillation: { ...distillation, teacher: askedTeacher(distillation.teacher) } }),
  };
  if (!recipe.data) return recipe;
  const sources = recipe.data.sources.map(({ contents: _, ...asked }) => asked);
  const { numUpdates, ...others } = { ...recipe, data: { sources } };
  const followsFromData = recipe.epochs !== undefined && !collectsForTraining(recipe);
  return followsFromData ? others : { ...others, numUpdates };
}

/** A teacher without what it was when a run began. */
function askedTeacher({ policy, fingerprint: _, ...rest }: TeacherRecipe): object {
  if (!policy) return rest;
  const { source: _source, ...asked } = policy;
  return { ...rest, policy: asked };
}

/** A component without the place in the log up to which it reads assigned rewards, where the run has filled that in. */
function withoutFilledPlace({ isUntilFilledIn, ...component }: Recipe['reward']['components'][number]) {
  if (isUntilFilledIn !== true) return component;
  const { until: _, ...options } = component.options ?? {};
  return { ...component, options };
}

/** Checks sources, sampler and limiter of a recipe. */
export function dataProblems(recipe: Recipe): string[] {
  const problems = dataSources(recipe).flatMap((source, s) => sourceProblems(source, `data.sources.${s}`));
  if (dataSources(recipe).filter(({ from }) => from === 'own').length > 1)
    problems.push('data.sources: got "own" more than once, must have it at most once');
  const isOnlyOwn = dataSources(recipe).every(({ from }) => from === 'own');
  if (!isOnlyOwn && proximalPolicy(recipe) === 'interpolated') {
    problems.push(
      'loss.rolloutCorrection.proximal: got "interpolated", must be "recomputed" or "behavior" with stored data: the policies of other runs are no versions of this one',
    );
  }
  const { sampler } = recipe;
  if (!sampler) return problems;
  return [
    ...problems,
    ...priorityProblems(recipe, sampler),
    ...samplerProblems(recipe, sampler),
    ...limiterProblems(recipe, sampler),
  ];
}

function sourceProblems(source: DataSourceRecipe, path: string): string[] {
  const { from } = source;
  if (from === 'own' || source[from] !== undefined) return [];
  return [`"${path}.${from}" is required where ${path}.from is "${from}"`];
}

function priorityProblems(recipe: Recipe, sampler: SamplerRecipe): string[] {
  const { rule, priority } = sampler;
  if (rule !== 'prioritized') {
    if (priority === undefined) return [];
    return [`sampler.priority: got a value, must be absent where sampler.rule is "${rule}"`];
  }
  const problems: string[] = [];
  if (typeof priority === 'string' && !(PRIORITIES as readonly string[]).includes(priority)) {
    problems.push(
      `sampler.priority: got "${priority}", must be ${PRIORITIES.join(', ')} or an object with "sql"`,
    );
  }
  if (priority === 'tdError' && recipe.loss.valueCoefficient === 0) {
    problems.push(
      'sampler.priority: got "tdError", must be another where loss.valueCoefficient is 0: there is no critic that could err',
    );
  }
  if (recipe.preference) {
    problems.push(
      'sampler.rule: got "prioritized", must be another with preference: pairs have no importance weights',
    );
  }
  return problems;
}

function samplerProblems(recipe: Recipe, sampler: SamplerRecipe): string[] {
  const { maxTimesSampled, zeroVariance = 'keep' } = sampler;
  const { collection } = recipe;
  const problems: string[] = [];
  if (zeroVariance !== 'keep' && collection.groupSize < 2) {
    problems.push(
      `sampler.zeroVariance: got "${zeroVariance}", must be "keep" where collection.groupSize is ${collection.groupSize}: one reward has no variance`,
    );
  }
  if (collectsForTraining(recipe) && (maxTimesSampled ?? 1) > 1 && collection.maxStaleness === 0) {
    problems.push(
      `sampler.maxTimesSampled: got ${maxTimesSampled}, must be 1 or null where collection.maxStaleness is 0: after one update a group is stale`,
    );
  }
  return problems;
}

function limiterProblems(recipe: Recipe, { limiter, maxTimesSampled }: SamplerRecipe): string[] {
  if (!limiter) return [];
  const { samplesPerInsert, minDiff, maxDiff } = limiter;
  const { groupsPerRound } = recipe.collection;
  const problems: string[] = [];
  if (!collectsForTraining(recipe))
    problems.push('sampler.limiter: got an object, must be null without an own source: nothing is inserted');
  if ((maxTimesSampled ?? 1) < samplesPerInsert) {
    problems.push(
      `sampler.limiter.samplesPerInsert: got ${samplesPerInsert}, must be at most sampler.maxTimesSampled, ${maxTimesSampled ?? 1}: the trainer would run out of groups`,
    );
  }
  const room = leastRatioRoom(samplesPerInsert, { inserted: groupsPerRound, sampled: groupsPerRound });
  if (maxDiff - minDiff < room) {
    problems.push(
      `sampler.limiter.maxDiff: got ${maxDiff}, must be at least minDiff + ${room} with ${groupsPerRound} groups in a round: with less, both sides would wait for each other`,
    );
  }
  return problems;
}
