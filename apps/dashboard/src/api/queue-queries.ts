import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, awaitData } from './client';
import { keys, unlessRefused } from './queries';
import type { StartOptions, TrainingChange, TrainingQueue, TrainRunRequest } from '../api-types/schema';

const POLL_MS = 2_000;
const QUEUE = ['queue'] as const;

/** The run that the server trains, and those that wait. */
export function useTrainingQueue() {
  return useQuery({
    queryKey: QUEUE,
    queryFn: ({ signal }): Promise<TrainingQueue> => awaitData(api.GET('/api/queue', { signal })),
    refetchInterval: (query) => unlessRefused(query.state.data?.isAvailable !== false && POLL_MS)(query),
  });
}

/** The built-in recipes, and the algorithms that can train them. */
export function useStartOptions() {
  return useQuery({
    queryKey: ['recipes'],
    queryFn: ({ signal }): Promise<StartOptions> => awaitData(api.GET('/api/recipes', { signal })),
    staleTime: Infinity,
  });
}

export function useStartRun() {
  return useQueueChange((body: TrainRunRequest) => awaitData(api.POST('/api/queue', { body })));
}

export function useCancelQueued() {
  return useQueueChange((queueId: string) =>
    awaitData(api.DELETE('/api/queue/{queueId}', { params: { path: { queueId } } })),
  );
}

export function useChangeTraining(runId: string) {
  return useQueueChange((action: TrainingChange['action']) =>
    awaitData(api.POST('/api/runs/{runId}/training', { params: { path: { runId } }, body: { action } })),
  );
}

/** A change that is answered with the queue as it is then. */
function useQueueChange<Asked>(change: (asked: Asked) => Promise<TrainingQueue>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: (queue) => {
      client.setQueryData(QUEUE, queue);
      return client.invalidateQueries({ queryKey: keys.runs });
    },
  });
}
