import { RandomError } from './random-error.js';

/** Multiplier of the 64-bit linear congruential generator under PCG, as 32-bit halves. */
const MULTIPLIER_HIGH = 0x5851f42d;
const MULTIPLIER_LOW = 0x4c957f2d;
const TWO_TO_32 = 2 ** 32;

/** Largest integer of a generator's `state`. */
export const MAX_UINT32 = TWO_TO_32 - 1;

/**
 * PCG-XSH-RR 64/32 (O'Neill 2014, "PCG: A Family of Simple Fast Space-Efficient Statistically Good
 * Algorithms for Random Number Generation"): 64 bits of state, period 2⁶⁴ per stream, 32-bit output.
 *
 * The state lives in two 32-bit halves, so no BigInt is made per draw. Equal (seed, stream) give equal
 * sequences on every machine; different streams of one seed are different sequences.
 */
export class Pcg32 {
  private high = 0;
  private low = 0;
  private incrementHigh = 0;
  private incrementLow = 0;

  /**
   * @param seed integer in [0, 2⁵³)
   * @param stream integer in [0, 2⁵²): which of the generator's sequences
   * @throws RandomError outside these ranges
   */
  constructor(seed: number, stream = 0) {
    this.seed(seed, stream);
  }

  /** Starts over in place, as a new generator of these arguments would. */
  seed(seed: number, stream = 0): void {
    checkSeed('seed', seed, 2 ** 53);
    checkSeed('stream', stream, 2 ** 52);
    this.incrementHigh = Math.floor((stream * 2) / TWO_TO_32) >>> 0;
    this.incrementLow = ((stream << 1) | 1) >>> 0;
    this.high = 0;
    this.low = 0;
    this.nextUint32();
    const low = this.low + (seed >>> 0);
    this.low = low >>> 0;
    this.high = (this.high + Math.floor(seed / TWO_TO_32) + (low >= TWO_TO_32 ? 1 : 0)) >>> 0;
    this.nextUint32();
  }

  /** The whole state, as four integers in [0, 2³²). */
  get state(): readonly number[] {
    return [this.high, this.low, this.incrementHigh, this.incrementLow];
  }

  /** Goes on as the generator that `state` was read from. @param state four integers in [0, 2³²) */
  restore(state: readonly number[]): void {
    [this.high, this.low, this.incrementHigh, this.incrementLow] = state;
  }

  /** Uniform over the integers 0 … 2³² − 1. */
  nextUint32(): number {
    const high = this.high;
    const low = this.low;
    // state ← state · multiplier + increment (mod 2⁶⁴)
    const product =
      multiplyHigh(low, MULTIPLIER_LOW) + Math.imul(high, MULTIPLIER_LOW) + Math.imul(low, MULTIPLIER_HIGH);
    const nextLow = (Math.imul(low, MULTIPLIER_LOW) >>> 0) + this.incrementLow;
    this.low = nextLow >>> 0;
    this.high = (product + this.incrementHigh + (nextLow >= TWO_TO_32 ? 1 : 0)) >>> 0;
    // output: xorshift of the old state's high bits, rotated by its top five
    const shiftedLow = (low >>> 18) | (high << 14);
    const mixedLow = shiftedLow ^ low;
    const mixedHigh = (high >>> 18) ^ high;
    const word = (mixedLow >>> 27) | (mixedHigh << 5);
    const rotation = high >>> 27;
    return ((word >>> rotation) | (word << (-rotation & 31))) >>> 0;
  }

  /** Uniform over the multiples of 2⁻³² in [0, 1). */
  nextFloat(): number {
    return this.nextUint32() / TWO_TO_32;
  }

  /**
   * Uniform over 0 … bound − 1, without modulo bias (draws again below the threshold).
   *
   * @throws RandomError unless bound is an integer in [1, 2³²]
   */
  nextBelow(bound: number): number {
    if (!Number.isInteger(bound) || bound < 1 || bound > TWO_TO_32) {
      throw new RandomError(`bound is ${bound}, must be an integer in [1, 2^32]`);
    }
    const threshold = TWO_TO_32 % bound;
    let drawn = this.nextUint32();
    while (drawn < threshold) drawn = this.nextUint32();
    return drawn % bound;
  }
}

/** High 32 bits of the 64-bit product of two unsigned 32-bit integers. */
function multiplyHigh(a: number, b: number): number {
  const aHigh = a >>> 16;
  const aLow = a & 0xffff;
  const bHigh = b >>> 16;
  const bLow = b & 0xffff;
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16);
  const crossed = aLow * bHigh + (middle & 0xffff);
  return aHigh * bHigh + Math.floor(middle / 0x10000) + Math.floor(crossed / 0x10000);
}

function checkSeed(name: string, value: number, end: number): void {
  if (!Number.isInteger(value) || value < 0 || value >= end) {
    throw new RandomError(`${name} is ${value}, must be an integer in [0, ${end})`);
  }
}
