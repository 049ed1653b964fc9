import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import { toPercent } from './targets';
import { api, awaitData } from '../api/client';
import { combineQueries } from '../api/combine-queries';
import { keys, type PageRequest, unlessRefused } from '../api/queries';
import type { paths, ValidationFigures } from '../api-types/schema';
import { newestFigures } from './best-version';

/** The newest are shown. */
export const MAX_VALIDATION_ROWS = 200;
/** Until a task is chosen: those that only the newest policy solved come first, and of a bandit 200 are 9 kB compressed. */
const NUM_FIRST_TASKS = 50;
/** As many as a recipe validates on unless it says otherwise. */
const MAX_VALIDATION_TASKS = 200;
/** A policy is validated greedily, by sampling, or both. */
const NUM_DECODINGS = 2;

/** Figures of the newest validations of a run, newest first. */
export function useValidations(runId: string, refetchMs: PageRequest['refetchMs']) {
  return useQuery({
    queryKey: keys.validations(runId),
    queryFn: ({ signal }) => readValidations(runId, { limit: MAX_VALIDATION_ROWS }, signal),
    refetchInterval: unlessRefused(refetchMs),
  });
}

/**
 * Tasks as the first and the newest validated policy of a run played them, those that only the newest solved first. They are read again for a newer version, and
 * at the interval until its episodes are stored.
 */
export function useValidationTasks(
  runId: string,
  newestVersion: number,
  { isChosen, refetchMs }: { readonly isChosen: boolean; readonly refetchMs: PageRequest['refetchMs'] },
) {
  const limit = isChosen ? MAX_VALIDATION_TASKS : NUM_FIRST_TASKS;
  return useQuery({
    queryKey: ['runs', runId, 'validation-tasks', newestVersion, limit],
    queryFn: async ({ signal }) => {
      const params = { path: { runId }, query: { limit } };
      return awaitData(api.GET('/api/runs/{runId}/validations/tasks', { params, signal }));
    },
    placeholderData: keepPreviousData,
    refetchInterval: (query) => {
      const task = query.state.data?.items.at(0);
      const shownVersion = (task?.newest ?? task?.first)?.policyVersion;
      return unlessRefused(shownVersion === newestVersion ? false : refetchMs)(query);
    },
  });
}

/** Figures of all validated policies on the whole validation split, newest first: a long run has several pages of them. */
export function useWholeSplitFigures(runId: string) {
  return useQuery({
    queryKey: [...keys.validations(runId), 'whole-split'],
    queryFn: async ({ signal }) => {
      const figures: ValidationFigures[] = [];
      let cursor: string | undefined;
      do {
        const query = { split: 'validation', families: false, limit: MAX_VALIDATION_ROWS, cursor } as const;
        const params = { path: { runId }, query };
        const read = await awaitData(api.GET('/api/runs/{runId}/validations', { params, signal }));
        figures.push(...read.items);
        cursor = read.nextCursor ?? undefined;
      } while (cursor !== undefined);
      return figures;
    },
  });
}

/** The figures of the newest policy of each run on the whole split, by run: by greedy sampling where that was done; null before the first. */
export function useNewestFigures(
  runIds: readonly string[],
  split: ValidationFigures['split'],
  refetchMs: PageRequest['refetchMs'],
) {
  const { items } = useQueries({
    queries: runIds.map((runId) => ({
      queryKey: [...keys.validations(runId), split],
      queryFn: async ({ signal }: { readonly signal: AbortSignal }) => {
        const query = { split, families: false, limit: NUM_DECODINGS };
        return { runId, figures: newestFigures(await readValidations(runId, query, signal)) };
      },
      refetchInterval: unlessRefused(refetchMs),
    })),
    combine: combineQueries,
  });
  return new Map(items.map(({ runId, figures }) => [runId, figures]));
}

type ValidationsQuery = NonNullable<paths['/api/runs/{runId}/validations']['get']['parameters']['query']>;

async function readValidations(runId: string, query: ValidationsQuery, signal: AbortSignal) {
  const params = { path: { runId }, query };
  return (await awaitData(api.GET('/api/runs/{runId}/validations', { params, signal }))).items;
}

/** The metrics that say when the run reached these success rates, by name; those that it has not reached are missing. */
export function useTargets(runId: string, targets: readonly number[], refetchMs: PageRequest['refetchMs']) {
  const names = targets.flatMap((target) =>
    ['updatesTo', 'secondsTo'].map((name) => `validation/${name}${toPercent(target)}`),
  );
  return useQuery({
    queryKey: [...keys.targets(runId), ...names],
    enabled: names.length > 0,
    queryFn: async ({ signal }) => {
      const params = { path: { runId }, query: { names: names.join(',') } };
      const { series } = await awaitData(api.GET('/api/runs/{runId}/metrics', { params, signal }));
      return new Map(series.flatMap(({ name, values: [value] }) => (value == null ? [] : [[name, value]])));
    },
    refetchInterval: unlessRefused(refetchMs),
  });
}
