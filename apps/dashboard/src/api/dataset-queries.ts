import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { api, awaitData } from './client';
import { keys, RUNS_PAGE_SIZE, type PageRequest } from './queries';
import type { DatasetDetail } from '../api-types/schema';

export function useDatasets() {
  return useInfiniteQuery({
    queryKey: keys.datasets,
    queryFn: ({ signal, pageParam: cursor }) =>
      awaitData(api.GET('/api/datasets', { params: { query: { limit: RUNS_PAGE_SIZE, cursor } }, signal })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor,
  });
}

/** A data set, which never changes. */
export function useDataset(name: string) {
  return useQuery({
    queryKey: [...keys.datasets, name],
    queryFn: ({ signal }): Promise<DatasetDetail> =>
      awaitData(api.GET('/api/datasets/{name}', { params: { path: { name } }, signal })),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export function useDatasetEpisodes(name: string, { cursor, limit }: Omit<PageRequest, 'refetchMs'>) {
  return useQuery({
    queryKey: [...keys.datasets, name, 'episodes', cursor, limit],
    queryFn: ({ signal }) => {
      const params = { path: { name }, query: { cursor: cursor ?? undefined, limit } };
      return awaitData(api.GET('/api/datasets/{name}/episodes', { params, signal }));
    },
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  });
}
