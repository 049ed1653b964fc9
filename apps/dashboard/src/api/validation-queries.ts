import { queryOptions, useQueries, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { percentOf } from '../validation/targets';
import { api, dataOf } from './client';
import { keys, type PageRequest, unlessRefused } from './queries';
import type { ValidationFigures } from './schema';

/** The newest are shown. */
const MAX_VALIDATION_ROWS = 200;

/** Figures of the newest validations of a run, newest first. */
export function useValidations(runId: string, refetchMs: PageRequest['refetchMs']) {
  return useQuery(validationsOf(runId, refetchMs));
}

/** Those of several runs, by run, as far as they are read. */
export function useValidationsOfRuns(runIds: readonly string[], refetchMs: PageRequest['refetchMs']) {
  const figures = useQueries({ queries: runIds.map((runId) => validationsOf(runId, refetchMs)), combine });
  return new Map(runIds.map((runId, i) => [runId, figures[i]]));
}

/** Outside of the hook, so that equal results stay the same object. */
function combine(results: readonly UseQueryResult<ValidationFigures[]>[]) {
  return results.map(({ data }) => data ?? []);
}

function validationsOf(runId: string, refetchMs: PageRequest['refetchMs']) {
  return queryOptions({
    queryKey: keys.validations(runId),
    queryFn: async ({ signal }) => {
      const params = { path: { runId }, query: { limit: MAX_VALIDATION_ROWS } };
      return (await dataOf(api.GET('/api/runs/{runId}/validations', { params, signal }))).items;
    },
    refetchInterval: unlessRefused(refetchMs),
  });
}

/** The metrics that say when the run reached these success rates, by name; those that it has not reached are missing. */
export function useTargets(runId: string, targets: readonly number[], refetchMs: PageRequest['refetchMs']) {
  const names = targets.flatMap((target) =>
    ['updatesTo', 'secondsTo'].map((name) => `validation/${name}${percentOf(target)}`),
  );
  return useQuery({
    queryKey: [...keys.targets(runId), ...names],
    enabled: names.length > 0,
    queryFn: async ({ signal }) => {
      const params = { path: { runId }, query: { names: names.join(',') } };
      const { series } = await dataOf(api.GET('/api/runs/{runId}/metrics', { params, signal }));
      return new Map(series.flatMap(({ name, values: [value] }) => (value == null ? [] : [[name, value]])));
    },
    refetchInterval: unlessRefused(refetchMs),
  });
}
