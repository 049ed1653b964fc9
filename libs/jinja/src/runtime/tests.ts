/** Jinja's tests, `value is name(arguments)`. */
import { fail } from '../jinja-error.js';
import { compare, contains, equal, isHashable, asNumber } from '../values/comparison.js';
import { str } from '../values/printing.js';
import { isText, plainText } from '../values/traced-text.js';
import {
  Callable,
  Dict,
  Instance,
  Lazy,
  NumberRange,
  sequenceItems,
  Undefined,
  type NamedValues,
  type Value,
} from '../values/value.js';
import { CHARACTER_TESTS } from './letter-case.js';
import { binary } from './operators.js';

interface TestCall {
  readonly args: readonly Value[];
  readonly named: NamedValues;
  readonly hasFilter: (name: string) => boolean;
}

type Test = (value: Value, args: readonly Value[]) => boolean;

/** @throws JinjaError for an unknown test, or one that fails on the value */
export function runTest(name: string, value: Value, { args, named, hasFilter }: TestCall): boolean {
  const given = [...args, ...named.values()];
  if (name === 'filter' || name === 'test') isHashable(value);
  if (name === 'filter') return hasFilter(plainText(str(value)));
  if (name === 'test') return Object.hasOwn(TESTS, plainText(str(value)));
  if (!Object.hasOwn(TESTS, name)) return fail('TemplateRuntimeError', `No test named '${name}' found.`);
  if (given.length < (NUM_ARGUMENTS[name] ?? 0)) fail('TypeError', `test "${name}" needs an argument`);
  return TESTS[name](value, given);
}

const remainder = (value: Value, by: Value) => binary('%', value, by);
const isEqual: Test = (value, [other]) => equal(value, other);
const isBelow: Test = (value, [other]) => compare(value, other, '<') < 0;
const isAbove: Test = (value, [other]) => compare(value, other, '>') > 0;
const isAtMost: Test = (value, [other]) => compare(value, other, '<=') <= 0;
const isAtLeast: Test = (value, [other]) => compare(value, other, '>=') >= 0;
const isUnequal: Test = (value, [other]) => !equal(value, other);

function isSame(value: Value, [other]: readonly Value[]): boolean {
  return isText(value) && isText(other) ? plainText(value) === plainText(other) : value === other;
}

const COMPARING: Readonly<Record<string, Test>> = {
  '==': isEqual,
  eq: isEqual,
  equalto: isEqual,
  '!=': isUnequal,
  ne: isUnequal,
  '<': isBelow,
  lt: isBelow,
  lessthan: isBelow,
  '<=': isAtMost,
  le: isAtMost,
  '>': isAbove,
  gt: isAbove,
  greaterthan: isAbove,
  '>=': isAtLeast,
  ge: isAtLeast,
  in: (value, [container]) => contains(container, value),
  sameas: isSame,
  divisibleby: (value, [by]) => equal(remainder(value, by), 0n),
};

const NUM_ARGUMENTS: Readonly<Record<string, number>> = Object.fromEntries(
  Object.keys(COMPARING).map((name) => [name, 1]),
);

const TESTS: Readonly<Record<string, Test>> = {
  ...COMPARING,
  boolean: (value) => typeof value === 'boolean',
  callable: (value) => value instanceof Callable || value instanceof Undefined || hasCall(value),
  defined: (value) => !(value instanceof Undefined),
  escaped: () => false,
  even: (value) => equal(remainder(value, 2n), 0n),
  false: (value) => value === false,
  float: (value) => typeof value === 'number',
  integer: (value) => typeof value === 'bigint',
  iterable: (value) => isSized(value) || value instanceof Lazy,
  lower: (value) => CHARACTER_TESTS.islower(plainText(str(value))),
  mapping: (value) => value instanceof Dict,
  none: (value) => value === null,
  number: (value) => asNumber(value) !== null,
  odd: (value) => equal(remainder(value, 2n), 1n),
  sequence: isSized,
  string: (value) => isText(value),
  true: (value) => value === true,
  undefined: (value) => value instanceof Undefined,
  upper: (value) => CHARACTER_TESTS.isupper(plainText(str(value))),
};

function isSized(value: Value): boolean {
  return (
    isText(value) ||
    sequenceItems(value) !== null ||
    value instanceof Dict ||
    value instanceof NumberRange ||
    value instanceof Undefined
  );
}

function hasCall(value: Value): boolean {
  return value instanceof Instance && value.parts.call !== undefined;
}
