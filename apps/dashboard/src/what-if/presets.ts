/** A question that is often asked of an update. */
interface WhatIfPreset {
  readonly label: string;
  /** Fields of the recipe that are other, one a line. */
  readonly set: string;
}

interface PresetRule {
  readonly label: string;
  /** Values by dotted path. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly fits?: (recipe: unknown) => boolean;
}

const RULES: readonly PresetRule[] = [
  { label: 'GRPO', fields: comparisonBy('grpo'), fits: comparesGroups },
  { label: 'RLOO', fields: comparisonBy('rloo'), fits: comparesGroups },
  {
    label: 'Tighter clip',
    fields: { 'loss.clipLow': 0.1, 'loss.clipHigh': 0.1 },
    fits: trainsByAdvantages,
  },
  { label: 'Higher clip above (DAPO)', fields: { 'loss.clipHigh': 0.28 }, fits: trainsByAdvantages },
  { label: 'No KL', fields: { 'loss.kl.coefficient': 0 }, fits: hasKl },
  { label: 'No entropy bonus', fields: { 'loss.entropyCoefficient': 0 } },
  { label: 'One epoch', fields: { 'optimizer.epochs': 1 } },
  {
    label: 'Shuffled advantages (control)',
    fields: { 'advantage.shuffle': true },
    fits: (recipe) => trainsByAdvantages(recipe) && !isSet(recipe, 'distillation'),
  },
];

/** The questions that suit the recipe of a run and would change it; whether it may be changed so, the server says. */
export function presetsFor(recipe: unknown): readonly WhatIfPreset[] {
  return RULES.filter(({ fields, fits }) => (fits?.(recipe) ?? true) && differs(recipe, fields)).map(
    ({ label, fields }) => ({
      label,
      set: Object.entries(fields)
        .map(([path, value]) => `${path}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
        .join('\n'),
    }),
  );
}

/** An estimator without a critic, which then must not be trained. */
function comparisonBy(estimator: string): PresetRule['fields'] {
  return { 'advantage.estimator': estimator, 'advantage.options': {}, 'loss.valueCoefficient': 0 };
}

/** Whether episodes have others to be compared with, and the recipe says nothing that needs a critic. */
function comparesGroups(recipe: unknown): boolean {
  const groupSize = valueAt(recipe, 'collection.groupSize');
  const hasOwnCritic =
    ['policy.valueTrunk', 'model.valueTrunk'].some((path) => valueAt(recipe, path) === 'own') ||
    isSet(recipe, 'optimizer.criticLearningRate');
  return trainsByAdvantages(recipe) && typeof groupSize === 'number' && groupSize > 1 && !hasOwnCritic;
}

/** Whether updates have a KL term, which runs recorded as `loss.klCoefficient` before `loss.kl` was one object. */
function hasKl(recipe: unknown): boolean {
  const coefficient = valueAt(recipe, 'loss.kl.coefficient') ?? valueAt(recipe, 'loss.klCoefficient');
  return typeof coefficient === 'number' && coefficient > 0;
}

/** Pairs of episodes have no advantages. */
function trainsByAdvantages(recipe: unknown): boolean {
  return !isSet(recipe, 'preference');
}

function differs(recipe: unknown, fields: PresetRule['fields']): boolean {
  return Object.entries(fields).some(
    ([path, value]) => JSON.stringify(valueAt(recipe, path)) !== JSON.stringify(value),
  );
}

function isSet(recipe: unknown, path: string): boolean {
  return (valueAt(recipe, path) ?? null) !== null;
}

function valueAt(recipe: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined,
      recipe,
    );
}
