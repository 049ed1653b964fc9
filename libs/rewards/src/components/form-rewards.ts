import { choice, flag, nonNegative, positive, real, text, textList } from '@retrace/algorithms/registry';
import { registerReward } from '../component.js';

/* Rewards for the form of the agent's text. Importing this file registers them. */

const EXCESS_SHAPES = {
  linear: (excess: number) => excess,
  quadratic: (excess: number) => excess * excess,
  log: (excess: number) => Math.log1p(excess),
} as const;

registerReward(import.meta.url, {
  name: 'lengthPenalty',
  description:
    'Cost of writing more than a limit, over the whole episode: by the relative excess (length − limit)/limit',
  options: {
    unit: choice('tokens', 'characters'),
    limit: positive(256),
    shape: choice('linear', 'quadratic', 'log'),
    coefficient: nonNegative(0.1),
  },
  score({ steps }, { unit, limit, shape, coefficient }) {
    const length = steps.reduce(
      (sum, step) => sum + (unit === 'tokens' ? step.numActionTokens : step.action.length),
      0,
    );
    const excess = Math.max(0, length - limit) / limit;
    return { scope: 'episode', value: excess === 0 ? 0 : -coefficient * EXCESS_SHAPES[shape](excess) };
  },
});

registerReward(import.meta.url, {
  name: 'formatPattern',
  description:
    'One value for actions that match a regular expression, another for those that do not, per step',
  options: { pattern: text(''), flags: text('su'), whole: flag(true), match: real(0), mismatch: real(-0.1) },
  optionsFault({ pattern, flags, whole }) {
    if (pattern === '') return 'pattern is empty, must be a regular expression';
    try {
      compilePattern(pattern, flags, whole);
      return null;
    } catch (error) {
      return `pattern ${JSON.stringify(pattern)} with flags '${flags}' is no regular expression: ${(error as Error).message}`;
    }
  },
  score({ steps }, { pattern, flags, whole, match, mismatch }) {
    const expression = compilePattern(pattern, flags, whole);
    return { scope: 'step', values: steps.map(({ action }) => (expression.test(action) ? match : mismatch)) };
  },
});

registerReward(import.meta.url, {
  name: 'formatJson',
  description:
    'One value for actions that are a JSON object with all the required keys, another for the rest, per step',
  options: { requiredKeys: textList([]), match: real(0), mismatch: real(-0.1) },
  score: ({ steps }, { requiredKeys, match, mismatch }) => ({
    scope: 'step',
    values: steps.map(({ action }) => (isObjectWith(action, requiredKeys) ? match : mismatch)),
  }),
});

/** Without `g` and `y`: those would make a test depend on the one before. */
function compilePattern(pattern: string, flags: string, whole: boolean): RegExp {
  return new RegExp(whole ? `^(?:${pattern})$` : pattern, flags.replace(/[gy]/g, ''));
}

function isObjectWith(action: string, keys: readonly string[]): boolean {
  try {
    const value: unknown = JSON.parse(action);
    return (
      typeof value === 'object' &&
      value !== null &&
      !Array.isArray(value) &&
      keys.every((key) => Object.hasOwn(value, key))
    );
  } catch {
    return false;
  }
}
