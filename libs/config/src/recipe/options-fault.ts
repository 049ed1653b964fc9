import { isRecord } from './plain-object.js';
import { showValue } from './show-value.js';

/** The product of three such numbers still fits into float32. */
const MAX_MAGNITUDE = 1e12;
const MAX_TEXT_LENGTH = 100_000;

/** Which rule options break that hold for the options of everything; null for none. */
export function optionsFault(options: unknown): string | null {
  if (!isRecord(options)) return 'must be an object';
  const waiting = Object.entries(options);
  for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
    const [name, value] = entry;
    if (typeof value === 'number' && !(Math.abs(value) <= MAX_MAGNITUDE)) {
      return `${name} is ${value}, must be a number from -${MAX_MAGNITUDE} to ${MAX_MAGNITUDE}: the product of three still fits into float32`;
    }
    if (typeof value === 'string' && value.length > MAX_TEXT_LENGTH) {
      return `${name} is ${showValue(value)}, must have at most ${MAX_TEXT_LENGTH} characters`;
    }
    if (typeof value === 'object' && value !== null) {
      waiting.push(
        ...Object.entries(value).map(([key, inner]) => [`${name}.${key}`, inner] as [string, unknown]),
      );
    }
  }
  return null;
}
