import { getMetadataStorage } from '@retrace/validation';
import { isRecord } from './plain-object.js';

/** A field of a class, as its decorators declare it. */
export interface DeclaredField {
  readonly name: string;
  readonly isAdvanced: boolean;
  /** Whether it may be absent. */
  readonly isOptional: boolean;
  /** Whether null has a meaning of its own. */
  readonly isNullable: boolean;
}

/** The fields of a recipe class, in the order of their declaration. */
export function declaredFields(recipeClass: object): readonly DeclaredField[] {
  const rules = getMetadataStorage().getTargetValidationMetadatas(recipeClass as never, '', false, false);
  return [...new Set(rules.map(({ propertyName }) => propertyName))].map((name) => {
    const own = rules.filter(({ propertyName }) => propertyName === name);
    const contexts = own.map(({ context }) => (context ?? {}) as Partial<DeclaredField>);
    return {
      name,
      isAdvanced: contexts.some(({ isAdvanced }) => isAdvanced === true),
      isOptional: own.some(({ name: rule }) => rule === 'isOptional'),
      isNullable: contexts.some(({ isNullable }) => isNullable === true),
    };
  });
}

/** Takes away each field with null that has no meaning of its own there, below instances of the recipe classes: null then stands for an absent field. */
export function removeNulls(node: object): void {
  const fields = new Map(declaredFields(node.constructor).map((field) => [field.name, field]));
  for (const [name, value] of Object.entries(node) as [string, unknown][]) {
    const field = fields.get(name);
    if (field === undefined) continue;
    if (value === null && field.isOptional && !field.isNullable) Reflect.deleteProperty(node, name);
    for (const inner of Array.isArray(value) ? (value as unknown[]) : [value])
      if (isRecord(inner) && inner.constructor !== Object) removeNulls(inner);
  }
}
