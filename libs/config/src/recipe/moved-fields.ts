import { isRecord, type PlainObject } from './plain-object.js';
import type { Recipe } from './recipe.js';

/** Fields of `loss` that are in its object `kl` now, by their former names. Recorded recipes and files have them under either. */
export const KL_FIELDS = {
  klCoefficient: 'coefficient',
  klIn: 'in',
  klEstimator: 'estimator',
  adaptiveKl: 'adaptive',
  klStraightThrough: 'straightThrough',
  klBiasCorrection: 'biasCorrection',
} as const;

/** The KL of a recipe that says nothing of it, as runs recorded it before the KL was an object. */
const NO_KL = { coefficient: 0, estimator: 'k3' } as const;

/**
 * The plain recipe, or the part of one that a file of overrides has, with each field in its present place. One that is in both places stays in both, so that
 * `parseRecipe` refuses the former.
 *
 * @param warn gets a sentence on each field that has moved
 */
export function withPresentFields(plain: PlainObject, warn?: (message: string) => void): PlainObject {
  if (!isRecord(plain.loss) || !Object.keys(plain.loss).some((name) => Object.hasOwn(KL_FIELDS, name)))
    return plain;
  // What is no object has no place for them, and null says that there is no KL: the former fields stay, and are refused.
  if (!isRecord(plain.loss.kl) && plain.loss.kl !== undefined) return plain;
  const present = isRecord(plain.loss.kl) ? plain.loss.kl : {};
  const loss: PlainObject = {};
  const moved: PlainObject = {};
  for (const [name, value] of Object.entries(plain.loss)) {
    const field = Object.hasOwn(KL_FIELDS, name) ? KL_FIELDS[name as keyof typeof KL_FIELDS] : null;
    if (field === null || field in present) loss[name] = value;
    else if (value !== undefined) {
      moved[field] = value;
      warn?.(`loss.${name} is now loss.kl.${field}`);
    }
  }
  const kl = Object.keys(moved).length === 0 ? {} : { kl: { ...present, ...moved } };
  return { ...plain, loss: { ...loss, ...kl } };
}

/** The present path of a field that is named by its former one; other paths as they are. */
export function presentPath(path: readonly string[]): readonly string[] {
  const [section, name, ...inner] = path;
  if (section !== 'loss' || !Object.hasOwn(KL_FIELDS, name ?? '')) return path;
  return ['loss', 'kl', KL_FIELDS[name as keyof typeof KL_FIELDS], ...inner];
}

/** The present path of a field by its former one; null for any other path. */
export function movedPath(path: string): string | null {
  const present = presentPath(path.split('.')).join('.');
  return present === path ? null : present;
}

/** A whole recipe, or what was recorded as one, with each field in its present place, and with the KL and the shuffling that it has where it says nothing of them. */
export function inPresentShape(plain: PlainObject): PlainObject {
  const moved = withPresentFields(plain);
  const { loss, advantage } = moved;
  return {
    ...moved,
    ...(isRecord(loss) && { loss: { ...loss, kl: { ...NO_KL, ...(isRecord(loss.kl) && loss.kl) } } }),
    ...(isRecord(advantage) && { advantage: { ...advantage, shuffle: advantage.shuffle ?? false } }),
  };
}

/** The recipe with each field in the place that it had when the hashes of recorded runs were defined, and with the values that every recipe had there. */
export function inHashedShape(recipe: Pick<Recipe, 'loss' | 'advantage'>): object {
  const { kl, ...loss } = recipe.loss;
  const flat = Object.entries(KL_FIELDS).map(([former, name]) => [former, kl?.[name]]);
  const {
    klCoefficient = NO_KL.coefficient,
    klEstimator = NO_KL.estimator,
    ...others
  } = Object.fromEntries(flat) as PlainObject;
  return {
    ...recipe,
    loss: { ...loss, klCoefficient, klEstimator, ...others },
    advantage: { ...recipe.advantage, shuffle: recipe.advantage.shuffle ?? false },
  };
}
