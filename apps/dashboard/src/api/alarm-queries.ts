import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, awaitData } from './client';
import { keys, RUNS_PAGE_SIZE, unlessRefused } from './queries';
import type { AcknowledgeAlarmRequest, SilenceAlarmsRequest } from '../api-types/schema';

const POLL_MS = 10_000;
const MOST_SILENCES = 500;

/** The alarms of all runs but archived ones, those that were raised last first. */
export function useAlarms() {
  return useInfiniteQuery({
    queryKey: [...keys.alarms, 'list'],
    queryFn: ({ signal, pageParam: cursor }) =>
      awaitData(api.GET('/api/alarms', { params: { query: { limit: RUNS_PAGE_SIZE, cursor } }, signal })),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor,
    refetchInterval: unlessRefused(POLL_MS),
  });
}

/** The silences that hold, those that end last first. */
export function useSilences() {
  return useQuery({
    queryKey: keys.silences,
    queryFn: async ({ signal }) => {
      const params = { query: { limit: MOST_SILENCES } };
      return (await awaitData(api.GET('/api/alarms/silences', { params, signal }))).items;
    },
    refetchInterval: unlessRefused(POLL_MS),
  });
}

/** Acknowledges an alarm; pending until the page has read the alarms again. */
export function useAcknowledgeAlarm() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: AcknowledgeAlarmRequest) =>
      awaitData(api.POST('/api/alarms/acknowledgements', { body })),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.alarms }),
  });
}

/** Silences the alarms of a rule, or ends their silence; pending until the page has read the alarms again. */
export function useSilenceAlarms() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: SilenceAlarmsRequest) => awaitData(api.POST('/api/alarms/silences', { body })),
    onSuccess: () => client.invalidateQueries({ queryKey: keys.alarms }),
  });
}
