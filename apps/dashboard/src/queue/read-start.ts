import type { TrainRunRequest } from '../api-types/schema';

/** Contents of the form, as text. */
export interface StartFields {
  /** A built-in one, or `run:<run>`. */
  readonly recipe: string;
  /** '' for the recipe's own. */
  readonly algorithm: string;
  readonly numUpdates: string;
  readonly seed: string;
  readonly initFrom: string;
  /** `field=value`, one a line. */
  readonly overrides: string;
}

/** The fields of a fork of a run: its recipe, from the newest policy that it has when the fork begins. */
export function forkFields(runId: string): Pick<StartFields, 'recipe' | 'initFrom'> {
  return { recipe: `run:${runId}`, initFrom: formatPolicy(runId, '') };
}

/** Names a version of a run's policy as a request does; without a version, the newest when the run begins. */
export function formatPolicy(runId: string, version: string): string {
  return version === '' ? `run:${runId}` : `run:${runId}@${version}`;
}

/** The version that such a name has; '' without one. */
export function parseVersion(policy: string): string {
  return policy.split('@')[1] ?? '';
}

/** The request that a form stands for. A value that is no JSON is a text; a line without `=` is a field without a value, which the server refuses by its name. */
export function readStart({
  recipe,
  algorithm,
  numUpdates,
  seed,
  initFrom,
  overrides,
}: StartFields): TrainRunRequest {
  const lines = overrides
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return {
    recipe,
    ...(algorithm !== '' && { algorithm }),
    ...(numUpdates !== '' && { numUpdates: Number(numUpdates) }),
    ...(seed !== '' && { seed: Number(seed) }),
    ...(initFrom.trim() !== '' && { initFrom: initFrom.trim() }),
    ...(lines.length > 0 && { overrides: Object.fromEntries(lines.map(readLine)) }),
  };
}

function readLine(line: string): [string, string | number | boolean | null] {
  const [field, ...rest] = line.split('=');
  return [field.trim(), readValue(rest.join('=').trim())];
}

function readValue(text: string): string | number | boolean | null {
  try {
    const value: unknown = JSON.parse(text);
    // Lists and objects are refused by the server, with the field's name, as the text that they are.
    return typeof value === 'object' && value !== null ? text : (value as string | number | boolean | null);
  } catch {
    return text;
  }
}
