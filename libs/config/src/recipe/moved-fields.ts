import { ConfigError } from '../config-error.js';
import { isRecord, type PlainObject } from './plain-object.js';
import type { Recipe } from './recipe.js';

/** Fields of `loss` that are in its object `kl` now, by their former names. Recorded recipes and files have them under either. */
const KL_FIELDS = {
  klCoefficient: 'coefficient',
  klIn: 'in',
  klEstimator: 'estimator',
  adaptiveKl: 'adaptive',
  klStraightThrough: 'straightThrough',
  klBiasCorrection: 'biasCorrection',
} as const;

/**
 * The plain recipe, or the part of one that a file of overrides has, with each field in its present place.
 *
 * @param warn gets a sentence on each field in its former place
 * @throws ConfigError `RECIPE_INVALID` where a field is in its former and in its present place
 */
export function withPresentFields(plain: PlainObject, warn?: (message: string) => void): PlainObject {
  if (!isRecord(plain.loss) || !Object.keys(plain.loss).some((name) => name in KL_FIELDS)) return plain;
  const loss: PlainObject = {};
  const kl: PlainObject = {};
  for (const [name, value] of Object.entries(plain.loss)) {
    if (!(name in KL_FIELDS)) loss[name] = value;
    else if (value !== undefined) {
      kl[KL_FIELDS[name as keyof typeof KL_FIELDS]] = value;
      warn?.(movedSentence(`loss.${name}`) ?? '');
    }
  }
  const present = loss.kl ?? {};
  const twice = Object.entries(KL_FIELDS).find(
    ([, name]) => name in kl && isRecord(present) && name in present,
  );
  if (twice !== undefined) {
    throw new ConfigError(
      'RECIPE_INVALID',
      `Invalid recipe: loss.${twice[0]} is now loss.kl.${twice[1]}, which is given too; write only loss.kl.${twice[1]}`,
    );
  }
  if (Object.keys(kl).length > 0) loss.kl = isRecord(present) ? { ...present, ...kl } : kl;
  return { ...plain, loss };
}

/** The present path of a field that is named by its former one; other paths as they are. */
export function presentPath(path: readonly string[]): readonly string[] {
  const [section, name, ...inner] = path;
  if (section !== 'loss' || !Object.hasOwn(KL_FIELDS, name ?? '')) return path;
  return ['loss', 'kl', KL_FIELDS[name as keyof typeof KL_FIELDS], ...inner];
}

/** Says where a field is now that is named by its former path; null for any other path. */
export function movedSentence(path: string): string | null {
  const present = presentPath(path.split('.')).join('.');
  return present === path
    ? null
    : `${path} is now ${present}; it is read as that, also in files and recorded runs`;
}

/** The recipe with each field in the place that it had when the hashes of recorded runs were defined, and with the values that every recipe had there. */
export function inHashedShape(recipe: Pick<Recipe, 'loss' | 'advantage'>): object {
  const { kl, ...loss } = recipe.loss;
  const flat = Object.entries(KL_FIELDS).map(([former, name]) => [former, kl?.[name]]);
  const { klCoefficient = 0, klEstimator = 'k3', ...others } = Object.fromEntries(flat) as PlainObject;
  return {
    ...recipe,
    loss: { ...loss, klCoefficient, klEstimator, ...others },
    advantage: { ...recipe.advantage, shuffle: recipe.advantage.shuffle ?? false },
  };
}
