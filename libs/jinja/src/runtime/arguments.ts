import { fail } from '../jinja-error.js';
import { isText, plainText, type Text } from '../values/traced-text.js';
import { asNumber } from '../values/comparison.js';
import { typeName, Undefined, type NamedValues, type Value } from '../values/value.js';

/**
 * The arguments of a call in the order of its parameters; undefined for those that were not given.
 *
 * @throws JinjaError for too many, unknown or doubled ones
 */
export function bindArguments(
  name: string,
  parameters: readonly string[],
  args: readonly Value[],
  named: NamedValues,
): readonly (Value | undefined)[] {
  if (args.length > parameters.length)
    fail('TypeError', `${name}() takes ${parameters.length} arguments but ${args.length} were given`);
  const bound: (Value | undefined)[] = parameters.map((_, n) => args[n]);
  for (const [key, value] of named) {
    const place = parameters.indexOf(key);
    if (place < 0) fail('TypeError', `${name}() got an unexpected keyword argument '${key}'`);
    if (place < args.length) fail('TypeError', `${name}() got multiple values for argument '${key}'`);
    bound[place] = value;
  }
  return bound;
}

/** A text argument. @throws JinjaError for other values */
export function textArgument(value: Value | undefined, what: string): Text {
  if (value instanceof Undefined) return value.refuse();
  if (value !== undefined && isText(value)) return value;
  return fail('TypeError', `${what} must be str, not ${value === undefined ? 'missing' : typeName(value)}`);
}

/** A whole number. @throws JinjaError for other values */
export function integerArgument(value: Value | undefined, what: string, fallback?: number): number {
  if (value === undefined && fallback !== undefined) return fallback;
  const number = value === undefined || typeof value === 'number' ? null : asNumber(value);
  if (number === null)
    return fail(
      'TypeError',
      `${what}: '${value === undefined ? 'missing' : typeName(value)}' object cannot be interpreted as an integer`,
    );
  return Number(number);
}

export function plainArgument(value: Value | undefined, what: string): string {
  return plainText(textArgument(value, what));
}
