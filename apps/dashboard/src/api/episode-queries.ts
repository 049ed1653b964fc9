import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQueries,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { api, awaitData } from './client';
import { combineQueries } from './combine-queries';
import { keys, type PageRequest, unlessRefused } from './queries';
import { openedRun } from '../as-of/saved-run';
import type { EpisodeDetail, paths, StepDetail } from '../api-types/schema';

const MOST_STEPS_SIDE_BY_SIDE = 100;
/** Of each piece of an episode but the first one. */
const STEPS_OF_LATER_PIECE = 200;
/** The store has a score a moment after the log, longer where the machine is busy. */
const SCORE_VISIBLE_MS = [1_000, 3_000, 8_000];

type EpisodesQuery = NonNullable<paths['/api/runs/{runId}/episodes']['get']['parameters']['query']>;
export type EpisodeFilter = Omit<EpisodesQuery, 'cursor' | 'limit'>;

export function useEpisodes(runId: string, filter: EpisodeFilter, { cursor, limit, refetchMs }: PageRequest) {
  return useQuery({
    queryKey: [...keys.episodes(runId), filter, cursor, limit],
    queryFn: ({ signal }) => {
      const params = { path: { runId }, query: { ...filter, cursor: cursor ?? undefined, limit } };
      return awaitData(api.GET('/api/runs/{runId}/episodes', { params, signal }));
    },
    placeholderData: keepPreviousData,
    refetchInterval: unlessRefused(refetchMs),
  });
}

/** Steps of an episode; the first piece has the episode too. */
interface EpisodePiece {
  readonly episode: EpisodeDetail | null;
  readonly steps: readonly StepDetail[];
  readonly nextStep: number | null;
}

/** An episode with its steps, piece by piece. */
export function useEpisode(runId: string, episodeId: string) {
  return useInfiniteQuery({
    queryKey: ['runs', runId, 'episode', episodeId],
    queryFn: ({ signal, pageParam: fromStep }) => readPiece({ runId, episodeId }, fromStep, signal),
    initialPageParam: 0,
    getNextPageParam: (piece) => piece.nextStep,
    select: joinPieces,
    refetchInterval: (query) =>
      unlessRefused(query.state.data?.pages[0]?.episode?.sealed === false && 2_000)(query),
  });
}

async function readPiece(
  path: { readonly runId: string; readonly episodeId: string },
  fromStep: number,
  signal: AbortSignal,
): Promise<EpisodePiece> {
  if (fromStep > 0) {
    const params = { path, query: { fromStep, maxSteps: STEPS_OF_LATER_PIECE } };
    const piece = await awaitData(
      api.GET('/api/runs/{runId}/episodes/{episodeId}/steps', { params, signal }),
    );
    return { episode: null, ...piece };
  }
  const episode = await awaitData(
    api.GET('/api/runs/{runId}/episodes/{episodeId}', { params: { path }, signal }),
  );
  return { episode, steps: episode.steps, nextStep: episode.nextStep };
}

function joinPieces({ pages }: { readonly pages: readonly EpisodePiece[] }) {
  const episode = pages[0]?.episode;
  if (!episode) throw new Error('pages[0].episode is missing; the first piece must have the episode');
  return { episode, steps: pages.flatMap(({ steps }) => steps) };
}

/** The agents that an episode called and the forks of its steps; a saved page has none of them. */
export function useEpisodeBranches(
  runId: string,
  { episodeId, sealed }: Pick<EpisodeDetail, 'episodeId' | 'sealed'>,
) {
  return useQuery({
    queryKey: ['runs', runId, 'branches', episodeId],
    queryFn: ({ signal }) => {
      const params = { path: { runId, episodeId } };
      return awaitData(api.GET('/api/runs/{runId}/episodes/{episodeId}/branches', { params, signal }));
    },
    enabled: openedRun() === null,
    refetchInterval: unlessRefused(!sealed && 5_000),
  });
}

/** The first steps of several episodes, in their order, as far as they are read; of those in progress as they are now. */
export function useEpisodesByIds(runId: string, episodeIds: readonly string[]) {
  return useQueries({
    queries: episodeIds.map((episodeId) => ({
      queryKey: ['runs', runId, 'first-steps', episodeId],
      queryFn: ({ signal }: { readonly signal: AbortSignal }) => {
        const params = { path: { runId, episodeId }, query: { maxSteps: MOST_STEPS_SIDE_BY_SIDE } };
        return awaitData(api.GET('/api/runs/{runId}/episodes/{episodeId}', { params, signal }));
      },
    })),
    combine: combineQueries,
  });
}

/** A person's score of an episode. */
export interface NewScore {
  readonly runId: string;
  readonly episodeId: string;
  readonly name: string;
  readonly value: number;
  readonly person: string;
  readonly note: string;
}

/** Gives a score as a reward by that person; a later one of the same name replaces it. */
export function useScoreEpisode() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ runId, episodeId, name, value, person, note }: NewScore) => {
      const record = {
        type: 'reward' as const,
        episode: episodeId,
        name,
        value,
        source: `human:${person}`,
        rationale: note,
        occurredAt: new Date().toISOString(),
      };
      return awaitData(
        api.POST('/api/runs/{runId}/records', { params: { path: { runId } }, body: [record] }),
      );
    },
    onSuccess: (_, { runId, episodeId }) => {
      for (const delayMs of SCORE_VISIBLE_MS)
        setTimeout(() => {
          void client.invalidateQueries({ queryKey: ['runs', runId, 'episode', episodeId] });
        }, delayMs);
    },
  });
}
