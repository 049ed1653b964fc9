import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, awaitData } from './client';
import { keys } from './queries';
import type { AnnotateRunRequest } from '../api-types/schema';

/** Changes tags, notes, star or archive of a run; pending until the page has read it again. */
export function useAnnotateRun(runId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: AnnotateRunRequest) =>
      awaitData(api.PATCH('/api/runs/{runId}', { params: { path: { runId } }, body })),
    onSuccess: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: keys.run(runId), exact: true }),
        client.invalidateQueries({ queryKey: keys.runLists }),
      ]),
  });
}
