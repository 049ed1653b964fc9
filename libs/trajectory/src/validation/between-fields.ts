import type { EpisodeEnded } from '../events/episode-events.js';
import type { EventKind, RetraceEvent } from '../events/event.js';

import type { Problem } from '../fields/problem.js';

/** Finds the first broken rule between fields of an event whose fields have all passed their own; paths start inside the event. */
export type Checks<Payloads> = {
  readonly [K in keyof Payloads & EventKind]?: (event: RetraceEvent<K>) => Problem | null;
};

type Lengths = Readonly<Record<string, { readonly length: number }>>;

/** Returns a problem unless two fields of a payload, each given by its name, are equally long. */
export function findLengthProblem(field: Lengths, other: Lengths): Problem | null {
  const [[name, { length }]] = Object.entries(field);
  const [[otherName, { length: expected }]] = Object.entries(other);
  if (length === expected) return null;
  const rule = `must be the number of ${otherName}, ${expected}`;
  return { field: `payload.${name}.length`, value: length, rule };
}

/** Returns a problem unless min ≤ max; −1 means that no policy of this run sampled, so either both are −1 or neither is. */
export function findVersionRangeProblem(
  { policyVersionMin, policyVersionMax }: Pick<EpisodeEnded, 'policyVersionMin' | 'policyVersionMax'>,
  field: string,
): Problem | null {
  const rule =
    policyVersionMin > policyVersionMax
      ? `must be ≤ policyVersionMax, which is ${policyVersionMax}`
      : 'must be ≥ 0, as policyVersionMax is';
  const isRange = policyVersionMin === -1 ? policyVersionMax === -1 : policyVersionMin <= policyVersionMax;
  return isRange ? null : { field: `${field}.policyVersionMin`, value: policyVersionMin, rule };
}

export function findDuplicate(
  field: Readonly<Record<string, readonly string[] | Int32Array>>,
): Problem | null {
  const [[name, values]] = Object.entries(field);
  if (new Set<unknown>(values).size === values.length) return null;
  const known = new Set<unknown>();
  const at = [...values].findIndex((value) => known.size === known.add(value).size);
  return { field: `payload.${name}[${at}]`, value: values[at], rule: 'must be listed once' };
}
