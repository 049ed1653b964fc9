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

/**
 * @throws AlgorithmError when an entry is NaN or infinite. A missing reward is not a number either: episodes
 * without one are excluded before, never passed.
 */
export function checkFinite(arrays: Readonly<Record<string, NumericArray>>): void {
  for (const [name, array] of Object.entries(arrays)) checkEntries(name, array);
}

function checkEntries(name: string, array: NumericArray): void {
  // x − x is 0 for finite x and NaN otherwise, and NaN stays in a sum: nothing to decide for each value.
  let first = 0;
  let second = 0;
  let i = 0;
  for (; i + 1 < array.length; i += 2) {
    first += array[i] - array[i];
    second += array[i + 1] - array[i + 1];
  }
  if (i < array.length) first += array[i] - array[i];
  if (first + second === 0) return;
  for (i = 0; i < array.length; i++) {
    if (array[i] - array[i] !== 0) refuse(`${name}[${i}] is ${array[i]}, must be finite`);
  }
}

/** @throws AlgorithmError unless each array has `length` entries, all finite */
export function checkValues(arrays: Readonly<Record<string, NumericArray>>, length: number): void {
  checkLength(arrays, length);
  checkFinite(arrays);
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
