import { JinjaError } from './jinja-error.js';

/** Most characters of a text, or items of a list, that a template may make. */
const MAX_SIZE = 2 ** 24;
/** Characters that count as one step: those of short texts cost nothing beside the step itself. */
const CHARACTERS_PER_STEP = 32;

let stepsLeft = 0;

/**
 * Runs an action that may take a number of steps. Rendering is synchronous, so one count is enough for all templates.
 *
 * @throws JinjaError `LIMIT` when it takes more
 */
export function withSteps<T>(maxSteps: number, action: () => T): T {
  const outer = stepsLeft;
  stepsLeft = maxSteps;
  try {
    return action();
  } catch (error) {
    if (error instanceof RangeError)
      throw new JinjaError('LIMIT', `it is nested too deeply or makes too much: ${error.message}`);
    throw error;
  } finally {
    stepsLeft = outer;
  }
}

export function takeSteps(steps: number): void {
  stepsLeft -= steps;
  if (stepsLeft < 0) throw new JinjaError('LIMIT', 'it takes more steps than a template may');
}

/** Counts what a text or list of this size costs. */
export function takeSize(size: number): void {
  if (size > MAX_SIZE)
    throw new JinjaError(
      'LIMIT',
      `it makes a value of ${size} characters or items; at most ${MAX_SIZE} are allowed`,
    );
  takeSteps(1 + size / CHARACTERS_PER_STEP);
}
