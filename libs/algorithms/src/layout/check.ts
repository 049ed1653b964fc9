import { AlgorithmError } from '../errors.js';
import { hintFor } from '../registry/near-names.js';

/*
 * Checks at the boundary: a public function checks its arguments once, then trusts them in its loops. Messages name the argument
 * (by its key, where several are checked at once), the index and the value.
 */

function refuse(message: string): never {
  throw new AlgorithmError('INVALID_ARGUMENT', message);
}

/** Numeric arrays that results and inputs are stored in. */
export type NumericArray = Float32Array | Float64Array;

/** @throws AlgorithmError unless `offsets` starts at 0, never falls and ends at `length` */
export function checkOffsets(name: string, offsets: Int32Array, length: number): void {
  if (offsets.length === 0) refuse(`${name} is empty, must hold at least the 0 it starts with`);
  if (offsets[0] !== 0) refuse(`${name}[0] is ${offsets[0]}, must be 0`);
  for (let i = 1; i < offsets.length; i++) {
    if (offsets[i] < offsets[i - 1]) {
      refuse(`${name}[${i}] is ${offsets[i]}, must not be less than the ${offsets[i - 1]} before it`);
    }
  }
  const end = offsets[offsets.length - 1];
  if (end !== length) refuse(`${name} ends at ${end}, must end at the number of values, ${length}`);
}

/** @throws AlgorithmError unless each array has `length` entries */
export function checkLength(
  arrays: Readonly<Record<string, { readonly length: number }>>,
  length: number,
): void {
  for (const [name, array] of Object.entries(arrays)) {
    if (array.length !== length) refuse(`${name} has ${array.length} entries, must have ${length}`);
  }
}

const FLOAT32 = 'must be within ±3.4e38, the range of float32';

/**
 * @throws AlgorithmError when an entry is NaN, infinite or beyond float32, in which results are stored. A missing reward is not a
 * number either: episodes without one are excluded before, never passed.
 */
export function checkFinite(arrays: Readonly<Record<string, NumericArray>>): void {
  for (const [name, array] of Object.entries(arrays)) checkEntries(name, array);
}

function checkEntries(name: string, array: NumericArray): void {
  if (isStorable(array)) return;
  for (let i = 0; i < array.length; i++) {
    if (!Number.isFinite(array[i])) refuse(`${name}[${i}] is ${array[i]}, must be finite`);
    if (!Number.isFinite(Math.fround(array[i]))) refuse(`${name}[${i}] is ${array[i]}, ${FLOAT32}`);
  }
}

/** Whether float32 has a finite number for every entry. */
function isStorable(array: NumericArray): boolean {
  // x − x is 0 for finite x and NaN otherwise, and NaN stays in a sum: nothing to decide for each value.
  let first = 0;
  let second = 0;
  let i = 0;
  for (; i + 1 < array.length; i += 2) {
    first += Math.fround(array[i]) - Math.fround(array[i]);
    second += Math.fround(array[i + 1]) - Math.fround(array[i + 1]);
  }
  if (i < array.length) first += Math.fround(array[i]) - Math.fround(array[i]);
  return first + second === 0;
}

/**
 * Checks results of finite inputs. Loops that sum their results anyway call this only where the sum is not finite.
 *
 * @throws AlgorithmError `OVERFLOW` when a number, or an entry of an array, is beyond float32
 */
export function checkResults(results: Readonly<Record<string, NumericArray | number>>): void {
  for (const [name, result] of Object.entries(results)) {
    if (typeof result === 'number') {
      if (!Number.isFinite(Math.fround(result))) overflow(name, result);
    } else if (!isStorable(result)) {
      const bad = result.findIndex((value) => !Number.isFinite(Math.fround(value)));
      overflow(`${name}[${bad}]`, result[bad]);
    }
  }
}

function overflow(name: string, value: number): never {
  throw new AlgorithmError('OVERFLOW', `${name} is ${value}, ${FLOAT32}: an input is too large`);
}

/** @throws AlgorithmError unless each array has `length` entries, all finite */
export function checkValues(arrays: Readonly<Record<string, NumericArray>>, length: number): void {
  checkLength(arrays, length);
  checkFinite(arrays);
}

/** A logprob is ≤ 0, but a float32 log-softmax of a near-certain token may end a rounding error above it. */
const LARGEST_LOGPROB = 1e-3;
const [LARGEST_LOGPROB_BITS] = new Int32Array(Float32Array.of(LARGEST_LOGPROB).buffer);

/** @throws AlgorithmError unless each array has `length` entries, all finite logprobs */
export function checkLogprobs(arrays: Readonly<Record<string, Float32Array>>, length: number): void {
  checkValues(arrays, length);
  checkLogprobRange(arrays);
}

/** @throws AlgorithmError when an entry is over 0; NaN is not found */
export function checkLogprobRange(arrays: Readonly<Record<string, Float32Array>>): void {
  for (const [name, logprobs] of Object.entries(arrays)) checkRange(name, logprobs);
}

function checkRange(name: string, logprobs: Float32Array): void {
  // The bits of floats are in the order of their values above 0, and below 0 they are negative: nothing has to be converted.
  const bits = new Int32Array(logprobs.buffer, logprobs.byteOffset, logprobs.length);
  for (let i = 0; i < bits.length; i++) {
    if (bits[i] > LARGEST_LOGPROB_BITS && !Number.isNaN(logprobs[i]))
      refuse(`${name}[${i}] is ${logprobs[i]}, must be a logprob, ≤ 0`);
  }
}

/** @throws AlgorithmError unless there are `length` entries, each a group number in 0 … numGroups − 1 */
export function checkGroupIds(name: string, groupIds: Int32Array, length: number, numGroups = length): void {
  checkLength({ [name]: groupIds }, length);
  const bad = groupIds.findIndex((group) => group < 0 || group >= numGroups);
  if (bad !== -1) {
    refuse(`${name}[${bad}] is ${groupIds[bad]}, must be a group number in [0, ${numGroups})`);
  }
}

/** @throws AlgorithmError unless there are `length` entries, all ≥ 0 */
export function checkCounts(name: string, counts: Int32Array, length: number): void {
  checkLength({ [name]: counts }, length);
  const bad = counts.findIndex((count) => count < 0);
  if (bad !== -1) refuse(`${name}[${bad}] is ${counts[bad]}, must be ≥ 0`);
}

/** @throws AlgorithmError unless each array has `length` entries, all finite and ≥ 0 */
export function checkFactors(arrays: Readonly<Record<string, Float32Array>>, length: number): void {
  checkValues(arrays, length);
  for (const [name, array] of Object.entries(arrays)) {
    const bad = array.findIndex((value) => value < 0);
    if (bad !== -1) refuse(`${name}[${bad}] is ${array[bad]}, must be ≥ 0`);
  }
}

/** @throws AlgorithmError unless every entry is 0 or 1 */
export function checkMask(name: string, mask: Uint8Array, length: number): void {
  checkLength({ [name]: mask }, length);
  const bad = mask.findIndex((bit) => bit > 1);
  if (bad !== -1) refuse(`${name}[${bad}] is ${mask[bad]}, must be 0 or 1`);
}

/** @throws AlgorithmError `UNKNOWN_NAME`, naming the nearest known names or all of them */
export function checkName(field: string, name: string, known: readonly string[]): void {
  if (known.includes(name)) return;
  throw new AlgorithmError(
    'UNKNOWN_NAME',
    `${field} is '${name}', which is not known; ${hintFor(String(name), known)}`,
  );
}

/** Numbers by their names. */
type Numbers = Readonly<Record<string, number>>;

export function checkUnitInterval(numbers: Numbers): void {
  checkNumbers(numbers, 'in [0, 1]', (value) => value >= 0 && value <= 1);
}

export function checkPositive(numbers: Numbers): void {
  checkNumbers(numbers, 'a finite number > 0', (value) => value > 0 && Number.isFinite(value));
}

export function checkNonNegative(numbers: Numbers): void {
  checkNumbers(numbers, 'a finite number ≥ 0', (value) => value >= 0 && Number.isFinite(value));
}

export function checkFiniteNumber(numbers: Numbers): void {
  checkNumbers(numbers, 'finite', Number.isFinite);
}

export function checkPositiveInteger(numbers: Numbers): void {
  checkNumbers(numbers, 'an integer ≥ 1', (value) => Number.isInteger(value) && value >= 1);
}

function checkNumbers(numbers: Numbers, rule: string, accepts: (value: number) => boolean): void {
  for (const [name, value] of Object.entries(numbers)) {
    if (!accepts(value)) refuse(`${name} is ${value}, must be ${rule}`);
  }
}
