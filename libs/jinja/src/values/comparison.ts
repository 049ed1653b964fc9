import { fail } from '../jinja-error.js';
import { takeSteps } from '../meter.js';
import { compareTexts } from './characters.js';
import { isText, plainText } from './traced-text.js';
import {
  Dict,
  isList,
  iterate,
  toKey,
  NumberRange,
  sequenceItems,
  typeName,
  Undefined,
  type Value,
} from './value.js';

/** `int` and `bool` as bigint, `float` as a number; null for others. */
export function asNumber(value: Value): bigint | number | null {
  if (typeof value === 'boolean') return value ? 1n : 0n;
  return typeof value === 'bigint' || typeof value === 'number' ? value : null;
}

/** Python's `==`. */
export function equal(a: Value, b: Value): boolean {
  takeSteps(1);
  const [left, right] = [asNumber(a), asNumber(b)];
  if (left !== null && right !== null) return left == right;
  if (a === b) return true;
  if (isText(a) && isText(b)) return plainText(a) === plainText(b);
  if (a instanceof Undefined && b instanceof Undefined) return true;
  if (a instanceof NumberRange && b instanceof NumberRange)
    return (
      a.length === b.length &&
      (a.length === 0 || (a.start === b.start && a.at(a.length - 1) === b.at(b.length - 1)))
    );
  if (a instanceof Dict && b instanceof Dict) {
    if (a.entries.size !== b.entries.size) return false;
    return [...a.entries].every(([key, value]) => {
      const other = b.entries.get(key);
      return other !== undefined && equal(value, other);
    });
  }
  const [items, others] = [sequenceItems(a), sequenceItems(b)];
  if (!items || !others || isList(a) !== isList(b)) return false;
  return items.length === others.length && items.every((item, n) => equal(item, others[n]));
}

/** Python's order of two values: negative, 0 or positive; NaN is neither. @throws JinjaError where there is none */
export function compare(a: Value, b: Value, operator = '<'): number {
  takeSteps(1);
  if (a instanceof Undefined) return a.refuse();
  if (b instanceof Undefined) return b.refuse();
  const [left, right] = [asNumber(a), asNumber(b)];
  if (left !== null && right !== null) return left < right ? -1 : left > right ? 1 : left == right ? 0 : NaN;
  if (isText(a) && isText(b)) return compareTexts(plainText(a), plainText(b));
  const [items, others] = [sequenceItems(a), sequenceItems(b)];
  if (items && others && isList(a) === isList(b)) {
    for (let n = 0; n < Math.min(items.length, others.length); n++)
      if (!equal(items[n], others[n])) return compare(items[n], others[n], operator);
    return items.length - others.length;
  }
  return fail(
    'TypeError',
    `'${operator}' not supported between instances of '${typeName(a)}' and '${typeName(b)}'`,
  );
}

/** @throws JinjaError for a list or dict, which Python can't hash; false for other values that are no keys here */
export function isHashable(value: Value): boolean {
  if (isList(value) || value instanceof Dict) fail('TypeError', `unhashable type: '${typeName(value)}'`);
  return isText(value) || value === null || asNumber(value) !== null;
}

/** Python's `in`. */
export function contains(container: Value, item: Value): boolean {
  if (isText(container)) {
    if (item instanceof Undefined || !isText(item))
      return fail('TypeError', `'in <string>' requires string as left operand, not ${typeName(item)}`);
    takeSteps(plainText(container).length / 32);
    return plainText(container).includes(plainText(item));
  }
  if (container instanceof Dict) return isHashable(item) && container.entries.has(toKey(item));
  const items = iterate(container);
  for (let next = items.next(); !next.done; next = items.next()) if (equal(next.value, item)) return true;
  return false;
}

/** Sorts as Python's `sorted`: stable, and in reverse stable too. */
export function sorted<T>(items: readonly T[], key: (item: T) => Value, isReverse: boolean): readonly T[] {
  takeSteps(items.length);
  const keyed = items.map((item) => ({ item, key: key(item) }));
  keyed.sort((a, b) => (isReverse ? compare(b.key, a.key) : compare(a.key, b.key)));
  return keyed.map(({ item }) => item);
}
