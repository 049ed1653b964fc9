/**
 * Random SELECTs over given functions: most arguments have types that some function takes, and extreme values are frequent.
 *
 * @typedef {{ name: string, isAggregate: number, isHigherOrder: number }} SqlFunction
 */

const CONSTANTS = `
  NULL | 0 | 1 | -1 | 2 | 7 | 255 | 65536 | -9223372036854775808 | 18446744073709551615 | 1e308 | -1e-308 | 0.5 | nan | inf | '' | 'a' |
  'Ä€😀' | '%s' | '(a*)*b' | '2026-01-02' | '2026-01-02 03:04:05.678' | '{"a":[1,{"b":null}]}' | '$.a[0]' | 'UInt8' | 'Array(String)' | 'UTC' |
  'sum' | 'quantiles(0.1,0.9)' | repeat('a', 1000) | repeat('ab', 100000) | repeat('[', 500) | unhex('ff00fe') | [] | [1] | [1,2,3] | [NULL] |
  ['a','b'] | [[1],[2,3]] | range(1000) | range(1000000) | arrayMap(x -> x / 3, range(10000)) | arrayMap(x -> toString(x), range(1000)) |
  map('a',1) | map('a','b') | map() | (1,'a') | (1,2) | ((1,2),[3]) | toDate('2026-01-02') | toDateTime('2026-01-02 03:04:05') |
  toDateTime64('1969-12-31 23:59:59.999999', 6) | INTERVAL 1 DAY | INTERVAL -9 YEAR | toUUID('61f0c404-5cb3-11e7-907b-a6006ad3dba0') |
  toDecimal64(1.5, 4) | toInt256(-1) | toFixedString('abc', 5) | toLowCardinality('x') | toNullable(3) | true | x'00' | 1000000000 | materialize('m')`
  .split('|')
  .map((text) => text.trim());

const COLUMNS = [
  'step',
  'reward',
  'observation',
  'token_ids',
  'run_id',
  'occurred_at',
  'action_mask',
  'info',
];
const SUFFIXES = [
  '',
  '',
  '',
  'If',
  'Array',
  'Map',
  'Distinct',
  'OrNull',
  'OrDefault',
  'ForEach',
  'ArgMax',
  'ArrayIf',
];
const PARAMETERS = ['', '', '', '(0.5)', '(2)', '(0, 10, 1)', '(1000000)', "('a')", '(3, 0.5)'];
/** Most calls fail for the types of their arguments, so a deep one rarely runs. */
const MAX_DEPTH = 2;
const NUM_ARGUMENTS = [0, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4];

/**
 * @param {readonly SqlFunction[]} functions
 * @param {number} seed the same seed gives the same statement
 */
export function randomStatement(functions, seed) {
  const random = mulberry32(seed);
  const choose = (list) => list[Math.floor(random() * list.length)];
  const scalars = functions.filter(({ isAggregate }) => !isAggregate);
  const aggregates = functions.filter(({ isAggregate }) => isAggregate);

  const argument = (depth) => {
    const die = random();
    if (depth >= MAX_DEPTH || die < 0.45) return choose(CONSTANTS);
    if (die < 0.75) return choose(COLUMNS);
    return call(depth + 1);
  };
  const several = (depth) => Array.from({ length: choose(NUM_ARGUMENTS) }, () => argument(depth)).join(', ');
  const lambda = (depth) =>
    choose([`x -> ${argument(depth)}`, 'x -> x', '(x, y) -> x', `(x, y) -> ${call(depth)}`]);
  const call = (depth) => {
    const { name, isHigherOrder } = choose(scalars);
    return isHigherOrder ? `${name}(${lambda(depth + 1)}, ${several(depth)})` : `${name}(${several(depth)})`;
  };
  const aggregate = () => {
    const inner = `${choose(aggregates).name}${choose(SUFFIXES)}${choose(PARAMETERS)}(${several(MAX_DEPTH - 1)})`;
    return random() < 0.25
      ? `${inner} OVER (ORDER BY step ROWS BETWEEN ${Math.floor(random() * 1000)} PRECEDING AND CURRENT ROW)`
      : inner;
  };
  const source = () =>
    choose([
      'steps',
      'steps',
      '(SELECT * FROM steps LIMIT 10)',
      'steps ARRAY JOIN token_ids AS t',
      'steps AS s JOIN runs AS r ON s.run_id = r.run_id',
    ]);

  const die = random();
  if (die < 0.45) return `SELECT ${call(0)}`;
  if (die < 0.65) return `SELECT ${call(0)} FROM ${source()} LIMIT 100`;
  if (die < 0.85) return `SELECT ${aggregate()} FROM ${source()}`;
  if (die < 0.9) return `SELECT ${call(1)} AS k, ${aggregate()} FROM steps GROUP BY k ORDER BY k LIMIT 10`;
  if (die < 0.95) return `SELECT step FROM steps WHERE ${call(1)} ORDER BY ${call(1)} LIMIT 10`;
  return `WITH ${call(1)} AS c SELECT c, ${call(1)} FROM (SELECT ${call(1)} AS d, step FROM steps LIMIT 100) WHERE d IS NOT NULL LIMIT 5`;
}

/** @param {number} seed */
function mulberry32(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
