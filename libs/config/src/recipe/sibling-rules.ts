import { ValidateBy } from '@retrace/validation';

/** A field that must be absent unless another field of its object has one of these values. */
export function OnlyWhere(field: string, values: readonly unknown[]): PropertyDecorator {
  return siblingRule(
    'onlyWhere',
    (object) => values.includes(object[field]),
    (object) => `must be absent where ${field} is ${JSON.stringify(object[field]) ?? 'absent'}`,
  );
}

/** A field that must be absent without another field of its object. */
export function OnlyWith(field: string, why: string): PropertyDecorator {
  return siblingRule(
    'onlyWith',
    (object) => isGiven(object[field]),
    () => `must be absent without ${field}${why === '' ? '' : `: ${why}`}`,
  );
}

/**
 * A field that must be absent with another field of its object.
 *
 * @param why a clause on the other field, which begins with "which"
 */
export function NotWith(field: string, why: string): PropertyDecorator {
  return siblingRule(
    'notWith',
    (object) => !isGiven(object[field]),
    () => `must be absent with ${field}, ${why}`,
  );
}

/** A command, one of whose words has each of these placeholders. */
export function HasPlaceholders(placeholders: readonly string[]): PropertyDecorator {
  const missing = (command: unknown) =>
    placeholders.filter(
      (placeholder) =>
        !(
          Array.isArray(command) &&
          command.some((word) => typeof word === 'string' && word.includes(placeholder))
        ),
    );
  return ValidateBy({
    name: 'hasPlaceholders',
    validator: {
      validate: (value) => missing(value).length === 0,
      defaultMessage: (violation) =>
        `must contain ${missing(violation?.value).join(' and ')}, which the collector fills in`,
    },
  });
}

type Siblings = Readonly<Record<string, unknown>>;

function siblingRule(
  name: string,
  isKept: (object: Siblings) => boolean,
  message: (object: Siblings) => string,
): PropertyDecorator {
  return ValidateBy({
    name,
    validator: {
      validate: (_, violation) => isKept((violation?.object ?? {}) as Siblings),
      defaultMessage: (violation) => message((violation?.object ?? {}) as Siblings),
    },
  });
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
