import type { SelectedEpisode } from './selection/selected-episode.js';
import type { EpisodeFacts, StoredEpisode, StoredStep, StoredTokens } from './stored-episode.js';

const RUN_ID = '01920000-0000-7000-8000-000000000001';

/** An episode of a grid world with the given steps; its id ends in `ordinal`. */
export function storedEpisode(
  ordinal: number,
  steps: readonly Partial<StoredStep>[],
  facts: Partial<EpisodeFacts> = {},
): StoredEpisode {
  return {
    runId: RUN_ID,
    episodeId: `01920000-0000-7000-8000-${ordinal.toString(16).padStart(12, '0')}`,
    groupId: 'g0',
    environment: 'grid',
    environmentSeed: 7,
    task: '{"level":1}',
    split: 'train',
    agent: 'policy',
    success: true,
    return: 1,
    endReason: 'terminated',
    endDetail: '',
    samplingSeed: null,
    sealed: true,
    tags: [],
    metadata: 'null',
    finalObservation: '',
    startedAt: '2026-11-23T10:00:00.000000Z',
    ...facts,
    steps: steps.map((step, k) => ({
      step: k,
      occurredAt: `2026-11-23T10:00:0${k}.000000Z`,
      observation: `see ${k}`,
      action: `do ${k}`,
      reward: null,
      anchor: null,
      model: '',
      messages: null,
      keptMessages: null,
      numHiddenTurns: null,
      toolDefinitions: null,
      ...tokenCounts(step.tokens ?? null),
      usage: { inputTokens: null, cachedInputTokens: null, outputTokens: null, costUsd: null },
      tokens: null,
      details: null,
      ...step,
    })),
  };
}

function tokenCounts(tokens: StoredTokens | null) {
  const { ids = [], mask = [], keptPrefix = 0 } = tokens ?? {};
  const first = mask.indexOf(1);
  return {
    numTokens: ids.length,
    numPromptTokens: first < 0 ? ids.length : first,
    keptPrefixTokens: keptPrefix,
  };
}

export function selected(episode: StoredEpisode, fields: Partial<SelectedEpisode> = {}): SelectedEpisode {
  return { facts: episode, split: 'train', steps: null, score: episode.return, forkedFrom: null, ...fields };
}
