import { type InfiniteData, useMutation, useQueryClient } from '@tanstack/react-query';
import { api, dataOf } from './client';
import { keys } from './queries';
import type { AnnotateRunRequest, RunDetail, RunListItem } from './schema';

type RunPages = InfiniteData<{ readonly items: readonly RunListItem[] }>;

/** Changes tags, notes, star or archive of a run. What is shown of it changes at once, since the store has it a moment later. */
export function useAnnotateRun(runId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: AnnotateRunRequest) =>
      dataOf(api.PATCH('/api/runs/{runId}', { params: { path: { runId } }, body })),
    onSuccess: async (_, changes) => {
      // An answer that is on its way may not have them yet.
      await client.cancelQueries({ queryKey: keys.run(runId), exact: true });
      await client.cancelQueries({ queryKey: keys.runLists });
      client.setQueryData(keys.run(runId), (run: RunDetail | undefined) => run && { ...run, ...changes });
      client.setQueriesData({ queryKey: keys.runLists }, (list: RunPages | undefined) =>
        list === undefined
          ? list
          : { ...list, pages: list.pages.map((one) => annotated(one, runId, changes)) },
      );
    },
  });
}

function annotated<Page extends { readonly items: readonly RunListItem[] }>(
  list: Page,
  runId: string,
  { notes: _, ...changes }: AnnotateRunRequest,
): Page {
  return { ...list, items: list.items.map((run) => (run.runId === runId ? { ...run, ...changes } : run)) };
}
