import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, apiOfNow, awaitData } from './client';
import { keys, RUNS_PAGE_SIZE } from './queries';
import type { CreateNotebookRequest, NotebookDetail, SaveNotebookRequest } from '../api-types/schema';

/** Who writes, as the store shows it. */
const SOURCE = 'dashboard';

export function useNotebooks() {
  return useInfiniteQuery({
    queryKey: keys.notebooks,
    queryFn: ({ signal, pageParam: cursor }) =>
      awaitData(api.GET('/api/notebooks', { params: { query: { limit: RUNS_PAGE_SIZE, cursor } }, signal })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor,
  });
}

/** A notebook as it is when the page opens: what is changed there starts from it, so that it is not replaced by itself. */
export function useNotebook(notebookId: string) {
  return useQuery({
    queryKey: [...keys.notebooks, notebookId],
    queryFn: ({ signal }): Promise<NotebookDetail> =>
      awaitData(api.GET('/api/notebooks/{notebookId}', { params: { path: { notebookId } }, signal })),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}

export function useCreateNotebook() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (content: Pick<CreateNotebookRequest, 'title' | 'cells'>) =>
      awaitData(api.POST('/api/notebooks', { body: { ...content, source: SOURCE } })),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.notebooks, exact: true }),
  });
}

/** The newest revision, whatever the page shows. */
export function readNotebook(notebookId: string): Promise<NotebookDetail> {
  return awaitData(apiOfNow.GET('/api/notebooks/{notebookId}', { params: { path: { notebookId } } }));
}

/** Saves a notebook over the revision that is named; the answer has the new one. */
export function useSaveNotebook(notebookId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (content: Omit<SaveNotebookRequest, 'source'>) => {
      const params = { path: { notebookId } };
      return awaitData(
        api.PUT('/api/notebooks/{notebookId}', { params, body: { ...content, source: SOURCE } }),
      );
    },
    onSuccess: () => client.invalidateQueries({ queryKey: keys.notebooks, exact: true }),
  });
}

export function useDeleteNotebook(notebookId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (revision: number) => {
      const params = { path: { notebookId }, query: { revision } };
      return awaitData(api.DELETE('/api/notebooks/{notebookId}', { params }));
    },
    onSuccess: () => client.invalidateQueries({ queryKey: keys.notebooks, exact: true }),
  });
}
