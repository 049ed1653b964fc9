import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { BackendName } from './server/role-definitions.js';

/** Options that every command takes. */
export interface CommonOptions {
  readonly dataDir: string;
  readonly json?: true;
  readonly verbose?: true;
}

export const dataDirOption = () =>
  new Option('--data-dir <directory>', 'where log, store and checkpoints lie')
    .env('RETRACE_DATA_DIR')
    .default('./.retrace');

export const jsonOption = () => new Option('--json', 'machine-readable output');

export const verboseOption = () => new Option('--verbose', 'stack traces with errors');

export const recipeOption = () =>
  new Option('--recipe <name-or-file>', 'built-in recipe (see "retrace recipes") or a .json file').default(
    'frozen-lake-ppo',
  );

export const backendOption = () =>
  new Option('--backend <name>', 'compute backend instead of the best one found').choices([
    'tensorflow-cuda',
    'tfjs-node-gpu',
    'tensorflow',
    'tfjs-node',
    'webgpu',
    'wasm',
    'cpu',
  ] as const satisfies readonly BackendName[]);

export const collectorsOption = () =>
  new Option('--collectors <number>', 'processes that collect side by side, each its part of every round')
    .argParser(wholeNumber(1, 64))
    .default(1);

/** A parser for whole numbers in [min, max], for commander. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !Number.isInteger(value) || value < min || value > max) {
      const range =
        max === Number.MAX_SAFE_INTEGER
          ? `of at least ${String(min)}`
          : `from ${String(min)} to ${String(max)}`;
      throw new InvalidArgumentError(`It must be a whole number ${range}.`);
    }
    return value;
  };
}

/** A parser for points in time, for commander: milliseconds since the Unix epoch. */
export function pointInTime(text: string): number {
  const timeMs = Date.parse(text);
  if (Number.isNaN(timeMs)) {
    throw new InvalidArgumentError(
      'It must be a time in ISO 8601, such as 2026-11-21 or 2026-11-21T09:00:00Z.',
    );
  }
  return timeMs;
}

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** A parser for ages, for commander: milliseconds. */
export function durationMs(text: string): number {
  const [, count, unit] = /^(\d+)([mhdw])$/.exec(text) ?? [];
  if (count === undefined) {
    throw new InvalidArgumentError('It must be a whole number of m, h, d or w, such as 30d.');
  }
  return Number(count) * unitMs[unit as keyof typeof unitMs];
}

/** Collects a repeatable option, for commander. */
export function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}
