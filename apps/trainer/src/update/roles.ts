import { numberGroups } from '@retrace/algorithms';
import { dataSourceOf } from '@retrace/rewards';
import type { EpisodeTexts } from '@retrace/store';

export interface Roles {
  /** In order of first appearance. */
  readonly names: readonly string[];
  /** [E] */
  readonly roleIds: Int32Array;
  /** Running mean return of each, by its number. */
  readonly baselines: Float64Array;
}

/** The role of an episode is its data source, as rewards see it: what its task says, or else its environment. */
export function rolesOf(
  texts: readonly EpisodeTexts[],
  sourceField: string | undefined,
  baselines: Readonly<Record<string, number>>,
): Roles {
  const sources = texts.map((episode) => dataSourceOf(episode, sourceField ?? 'data_source'));
  const names = [...new Set(sources)];
  return {
    names,
    roleIds: numberGroups(sources).groupIds,
    baselines: Float64Array.from(names, (name) => (Object.hasOwn(baselines, name) ? baselines[name] : 0)),
  };
}

/** Running mean returns by the names of their roles, as they are recorded; none where the estimator has no roles. */
export function namedBaselines(roles: Roles | null, baselines: Float64Array | null): Record<string, number> {
  if (!roles || !baselines) return {};
  return Object.fromEntries(roles.names.map((name, i) => [name, baselines[i]]));
}
