import { getMetadataStorage, plainToInstance } from '@retrace/validation';
import { type DeclaredField, declaredFields } from './declared-fields.js';
import { presentPath } from './moved-fields.js';
import { isRecord, type PlainObject } from './plain-object.js';
import { isReserved } from './recipe-shape.js';
import { Recipe } from './recipe.js';
import { showText } from './show-value.js';

/**
 * Applies `path.to.field=value` to a recipe that is not validated yet; the value is JSON, or else a string. Objects on the way that
 * are absent or null are made. Returns what is wrong with the path; null for nothing.
 */
export function assignField(target: PlainObject, assignment: string): string | null {
  const equals = assignment.indexOf('=');
  if (equals < 1) {
    return `--set: got "${showText(assignment)}", must be key=value, as in optimizer.learningRate=0.001`;
  }
  const path = [...presentPath(assignment.slice(0, equals).split('.'))];
  const fault = pathFault(path);
  if (fault !== null) return `--set ${showText(assignment)}: ${fault}`;
  const last = path.pop() as string;
  let node = target;
  for (const key of path) {
    const inner = node[key];
    node = isRecord(inner) ? inner : (node[key] = {} as PlainObject);
  }
  node[last] = parseValue(assignment.slice(equals + 1));
  return null;
}

/** Follows the path over the classes of a recipe. Below a field without a class, as options are, every name may be a field. */
function pathFault(path: readonly string[]): string | null {
  let node: unknown = plainToInstance(Recipe, nested(path));
  for (const [depth, name] of path.entries()) {
    const known = readFields(node);
    if (isReserved(name) || known?.some((field) => field.name === name) === false) {
      const here = known === null ? '' : `; ${joinNames(known)}`;
      return `unknown field "${showText(path.slice(0, depth + 1).join('.'))}"${here}`;
    }
    node = isRecord(node) ? node[name] : undefined;
  }
  return null;
}

/** Whether the field of this path is one of a few words, as its class says. */
export function isWordField(named: readonly string[]): boolean {
  const path = presentPath(named);
  let node: unknown = plainToInstance(Recipe, nested(path));
  for (const name of path.slice(0, -1)) node = isRecord(node) ? node[name] : undefined;
  if (readFields(node) === null) return false;
  const { constructor } = node as object;
  return getMetadataStorage()
    .getTargetValidationMetadatas(constructor, '', false, false)
    .some(({ propertyName, name }) => propertyName === path.at(-1) && name === 'isIn');
}

/** Objects in one another, with the names of the path: class-transformer makes each of the class that its field has. */
function nested(path: readonly string[]): PlainObject {
  return path.reduceRight<PlainObject>((inner, name) => ({ [name]: inner }), {});
}

/** Fields of an instance's class; null for a plain object. */
function readFields(node: unknown): readonly DeclaredField[] | null {
  return isRecord(node) && node.constructor !== Object ? declaredFields(node.constructor) : null;
}

function joinNames(fields: readonly DeclaredField[]): string {
  const names = (isAdvanced: boolean) =>
    fields.flatMap((field) => (field.isAdvanced === isAdvanced ? [field.name] : [])).join(', ');
  const expert = names(true) === '' ? '' : `; those for experts ${names(true)}`;
  return `the fields here are ${names(false)}${expert}`;
}

function parseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
