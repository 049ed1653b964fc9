import { getMetadataStorage } from '@retrace/validation';
import { isRecord } from './plain-object.js';
import { showValue } from './show-value.js';

/** Finds the fields that have a list where their class wants one object: class-validator takes a list of such objects as well, also an empty one. */
export function listProblems(node: object, prefix = ''): string[] {
  const rules = getMetadataStorage().getTargetValidationMetadatas(node.constructor, '', false, false);
  const nested = rules.filter(({ type }) => type === 'nestedValidation');
  return nested.flatMap(({ propertyName, each }) => {
    const value = (node as Readonly<Record<string, unknown>>)[propertyName];
    const path = prefix + propertyName;
    if (!Array.isArray(value)) return isRecord(value) ? listProblems(value, `${path}.`) : [];
    if (!each) return [`${path}: got ${showValue(value)}, must be an object, not a list`];
    return value.flatMap((entry, i) => (isRecord(entry) ? listProblems(entry, `${path}.${i}.`) : []));
  });
}
