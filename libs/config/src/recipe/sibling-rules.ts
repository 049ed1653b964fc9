import { getMetadataStorage, ValidateBy } from '@retrace/validation';

/** Stands in a message for the path of the object, which a rule does not know. */
const SECTION = '$section.';
/** Names of the rules on a field beside others of its object. */
const SIBLING_RULES: readonly string[] = ['onlyWhere', 'onlyWith', 'notWith', 'hasPlaceholders'];

/** Whether it is the name of a rule on a field beside others of its object. */
export function isSiblingRule(name: string): boolean {
  return SIBLING_RULES.includes(name);
}

/** The message of a rule, in which the fields of the object have their whole path. */
export function withSection(message: string, path: string): string {
  return message.replace(SECTION, () => path);
}

/**
 * A field that must be absent unless another field of its object has one of these values. It says nothing where the other field is required and absent, or has
 * a value that it may not have, which is then the fault.
 *
 * @param values words
 * @param why a clause on the other field's value, such as "which begins with this word"; by default none
 */
export function OnlyWhere(field: string, values: readonly string[], why = ''): PropertyDecorator {
  const reason = why === '' ? '' : `, ${why}`;
  return siblingRule(
    'onlyWhere',
    (object) => values.includes(object[field] as string) || isFaulty(object, field),
    (object) =>
      typeof object[field] === 'string'
        ? `must be absent where ${SECTION}${field} is "${object[field]}"${reason}`
        : `must be absent where ${SECTION}${field} is not ${values.map((value) => `"${value}"`).join(' or ')}${reason}`,
  );
}

/** A field that must be absent without another field of its object. */
export function OnlyWith(field: string, why: string): PropertyDecorator {
  return siblingRule(
    'onlyWith',
    (object) => isGiven(object[field]),
    () => `must be absent without ${SECTION}${field}${why === '' ? '' : `: ${why}`}`,
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
    () => `must be absent with ${SECTION}${field}, ${why}`,
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

/** Whether a field is required and absent, or none of the words that it may be. */
function isFaulty(object: Siblings, field: string): boolean {
  const rules = getMetadataStorage()
    .getTargetValidationMetadatas(object.constructor, '', false, false)
    .filter(({ propertyName }) => propertyName === field);
  if (!isGiven(object[field])) return !rules.some(({ name }) => name === 'isOptional');
  const words = rules.find(({ name }) => name === 'isIn')?.constraints[0] as readonly unknown[] | undefined;
  return words !== undefined && !words.includes(object[field]);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
