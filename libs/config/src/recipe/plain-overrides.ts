import { ConfigError } from '../config-error.js';
import { isWordField } from './assign-field.js';
import { movedPath } from './moved-fields.js';
import { showText } from './show-value.js';

/** Value that a caller of the API gives a field of a recipe. */
export type PlainValue = string | number | boolean | null;

/** Parts of a recipe that name code, files, programs or servers, or the data and policies of other runs. */
const CLOSED_PARTS: readonly string[] = [
  'agent',
  'collection.endpoint',
  'data',
  'distillation',
  'engine',
  'initFrom',
  'policy',
  'reward.components',
  'tasks',
];
/** Fields with the name of something built in, which no path or address can be. */
const NAME_FIELDS: readonly string[] = ['advantage.estimator', 'environment', 'imitation.agent', 'name'];
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/**
 * The assignments of overrides that name no module, path, command or address, so that somebody who may start runs gains neither code nor files by
 * them: numbers, switches and null of the fields outside the closed parts, the words of fields that have a list of words, and names of what is built
 * in.
 *
 * @param overrides values by dotted path of the field
 * @throws ConfigError `RECIPE_INVALID` naming the field, its value and the rule
 */
export function plainAssignments(overrides: Readonly<Record<string, PlainValue>>): readonly string[] {
  const fields = Object.keys(overrides);
  return Object.entries(overrides).map(([field, value]) => {
    const rule = ruleBroken(field, value) ?? placeBroken(field, fields);
    if (rule !== null) {
      const shown = showText(JSON.stringify(value) ?? 'undefined');
      throw new ConfigError('RECIPE_INVALID', `overrides.${showText(field)}: got ${shown}, ${rule}`);
    }
    return `${field}=${JSON.stringify(value)}`;
  });
}

/** A field by its former path beside its present one, or beside an object in which either would be. */
function placeBroken(field: string, fields: readonly string[]): string | null {
  const present = movedPath(field);
  const isIn = (inner: string, outer: string) => inner === outer || inner.startsWith(`${outer}.`);
  const other = present === null ? undefined : fields.find((one) => isIn(one, present) || isIn(present, one));
  return other === undefined ? null : `is now ${present}, and ${other} is given too; leave out ${field}`;
}

function ruleBroken(field: string, value: unknown): string | null {
  if (!/^[A-Za-z][A-Za-z0-9]*(\.[A-Za-z][A-Za-z0-9]*)*$/.test(field))
    return 'its name must be that of a field, such as optimizer.learningRate';
  const part = CLOSED_PARTS.find((closed) => field === closed || field.startsWith(`${closed}.`));
  if (part !== undefined)
    return `must be left out: ${part} can name code, files, programs or servers, which only the command line sets`;
  if (field.startsWith('environment.')) return 'must be left out: only built-in environments can be named';
  if (value === null || typeof value === 'boolean') return null;
  if (typeof value === 'number') return Number.isFinite(value) ? null : 'must be a finite number';
  if (typeof value !== 'string') return 'must be a number, a text, true, false or null';
  if (isWordField(field.split('.'))) return null;
  if (!NAME_FIELDS.includes(field))
    return 'must be a number, true, false or null: a text here could name a file';
  return NAME.test(value) ? null : 'must be a name of letters, digits, ".", "_" and "-"';
}
