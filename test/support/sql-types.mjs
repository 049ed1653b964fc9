/**
 * Expressions for random SQL, by the class of their type: types of one class can stand for each other in most functions.
 *
 * @typedef {{ text: string, type: string, isConstant: boolean }} Expression
 */

/** Constants of every type, extreme ones among them. */
export const CONSTANT_TEXTS = `
  NULL ¦ 0 ¦ 1 ¦ 2 ¦ 7 ¦ 255 ¦ true ¦ -1 ¦ 65536 ¦ 1000000000 ¦ -9223372036854775808 ¦ 18446744073709551615 ¦ toInt8(-128) ¦ toInt16(300) ¦ toInt32(-7) ¦
  toUInt16(9) ¦ toUInt32(4294967295) ¦ toInt128(-1) ¦ toInt256(-1) ¦ toUInt256(3) ¦ toNullable(3) ¦ materialize(5) ¦ 0.5 ¦ 1e308 ¦ -1e-308 ¦ nan ¦ inf ¦
  toFloat32(-2.5) ¦ toDecimal32(1.5, 2) ¦ toDecimal64(-1.5, 4) ¦ toDecimal128(7, 10) ¦ '' ¦ 'a' ¦ 'abc,def;ghi' ¦ 'Ä€😀' ¦ '%s' ¦ '%Y-%m-%d' ¦ '(a*)*b' ¦
  'a.*' ¦ '(?P<name>[a-z]+)=(\\\\d+)' ¦ '2026-01-02' ¦ '2026-01-02 03:04:05.678' ¦ '{"a":[1,{"b":null}],"c":"x"}' ¦ '$.a[0]' ¦ 'a' ¦ 'UTC' ¦
  'Europe/Berlin' ¦ 'day' ¦ 'month' ¦ 'second' ¦ '12' ¦ '-3.5' ¦ '1,2,3' ¦ 'k1:v1,k2:v2' ¦ '61f0c404-5cb3-11e7-907b-a6006ad3dba0' ¦ repeat('a', 1000) ¦
  repeat('ab', 100000) ¦ repeat('[', 500) ¦ unhex('ff00fe') ¦ materialize('m') ¦ toLowCardinality('x') ¦ toNullable('n') ¦ toFixedString('abc', 5) ¦
  toFixedString('0123456789abcdef', 16) ¦ toDate('2026-01-02') ¦ toDate32('1905-06-07') ¦ toDateTime('2026-01-02 03:04:05', 'UTC') ¦ toDateTime('1970-01-01 00:00:00', 'UTC') ¦
  toDateTime64('1969-12-31 23:59:59.999999', 6, 'UTC') ¦ toDateTime64('2026-01-02 03:04:05.678', 3, 'UTC') ¦ INTERVAL 1 DAY ¦ INTERVAL 15 MINUTE ¦ INTERVAL 1 MONTH ¦
  INTERVAL -9 YEAR ¦ toUUID('61f0c404-5cb3-11e7-907b-a6006ad3dba0') ¦ [] ¦ [1] ¦ [1, 2, 3] ¦ [-5, 0, 300] ¦ [NULL] ¦ [1, NULL] ¦ [0, 1, 1, 0] ¦ range(1000) ¦ range(100000) ¦
  [0.5, -1.5, nan] ¦ arrayMap(x -> x / 3, range(1000)) ¦ [0.1, 0.4, 0.35, 0.8] ¦ ['a', 'b'] ¦ ['a', 'abc', ''] ¦ arrayMap(x -> toString(x), range(1000)) ¦ [[1], [2, 3]] ¦
  [['a'], []] ¦ [toDate('2026-01-02')] ¦ [(1, 'a'), (2, 'b')] ¦ map('a', 1) ¦ map('a', 1, 'b', 2) ¦ map('a', 'b') ¦ map(1, 2, 3, 4) ¦ map(1, 0.5) ¦ map() ¦ map('a', [1]) ¦ (1, 'a') ¦ (1, 2) ¦
  (0.5, 1.5) ¦ ((1, 2), [3]) ¦ tuple('a') ¦ tuple(1, 2, 3) ¦ CAST('{"a":1,"b":[1,2]}', 'JSON') ¦ CAST(7, 'Dynamic') ¦ CAST(7, 'Variant(UInt64, String)') ¦
  CAST('a', 'Enum8(''a'' = 1, ''b'' = 2)')`
  .split('¦')
  .map((text) => text.trim());

/** Columns of `steps` and expressions over them; each row has another value. */
export const COLUMN_TEXTS = [
  'step',
  'step % 2',
  'step % 7 = 0',
  'toUInt8(step % 256)',
  'toInt32(step) - 500',
  'reward',
  'assumeNotNull(reward)',
  'generation_ms',
  'observation',
  'action',
  'run_id',
  'parsed_action',
  'info',
  'occurred_at',
  'toDateTime(occurred_at)',
  'toDate(occurred_at)',
  'token_ids',
  'action_mask',
  'token_logprobs',
  'action_valid',
  "splitByChar(' ', observation)",
  'map(action, step)',
  'map(step % 3, step)',
  '(step, action)',
  '(step, toFloat64(step))',
  'toDecimal64(step % 1000, 4)',
  'toFixedString(substring(leftPad(toString(step), 8), 1, 8), 8)',
  "toUUID(concat('61f0c404-5cb3-11e7-907b-', leftPad(toString(step), 12, '0')))",
  'toLowCardinality(action)',
  'toIntervalDay(step % 100)',
];

/**
 * The class of a type: without Nullable, LowCardinality, sizes, scales and names of fields.
 *
 * @param {string} type
 * @returns {string}
 */
export function classOf(type) {
  const [, name, inside] = /^(\w+)(?:\((.*)\))?$/s.exec(type) ?? [null, type, undefined];
  if (/^(?:Nullable|LowCardinality)$/.test(name) && inside !== undefined) return classOf(inside);
  if (/^(?:UInt8|Bool)$/.test(name)) return 'UInt8';
  if (/^U?Int\d+$/.test(name)) return 'Int';
  if (/^(?:B?Float\d+)$/.test(name)) return 'Float';
  if (/^(?:Date|Date32)$/.test(name)) return 'Date';
  if (/^Interval/.test(name)) return 'Interval';
  if (/^(?:Decimal|Enum)/.test(name)) return name.replace(/\d+$/, '');
  if (/^(?:Array|Map)$/.test(name) && inside !== undefined)
    return `${name}(${splitTypes(inside).map(classOf).join(', ')})`;
  if (name === 'Tuple' && inside !== undefined)
    return `Tuple(${splitTypes(inside)
      .map((part) => classOf(part.replace(/^(?:\w+|`[^`]*`) (?=\w)/, '')))
      .join(', ')})`;
  return name;
}

/** Types between commas. @param {string} inside of the brackets of a type */
export function splitTypes(inside) {
  const parts = [''];
  let depth = 0;
  for (const character of inside) {
    if (character === '(') depth++;
    if (character === ')') depth--;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim()).filter(Boolean);
}

/** @param {string} typeClass of an array; null for any other class */
export function elementClassOf(typeClass) {
  return /^Array\((.*)\)$/s.exec(typeClass)?.[1] ?? null;
}
