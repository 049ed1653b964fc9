import { DATASET_FORMATS } from '@retrace/datasets';
import type { AnyEvent, Json, StepRecorded } from '@retrace/trajectory';

type Build = (typeof DATASET_FORMATS)['prompts']['build'];
type StoredEpisode = Parameters<Build>[1][number];
type RowPlan = Parameters<Build>[0];

/** An episode as data sets read it. */
export interface PlayedEpisode {
  readonly episode: StoredEpisode;
  /** For each step the text of all the tokens that its model read, special ones left out. */
  readonly read: readonly string[];
}

/** The episodes that an agent played, from the events of a run whose tokens are bytes. */
export function playedEpisodes(events: readonly AnyEvent[], agent: string): PlayedEpisode[] {
  return events.flatMap((event) => {
    if (event.kind !== 'EpisodeStarted' || event.payload.agent !== agent) return [];
    const { episodeId } = event;
    const steps = events.flatMap((other) =>
      other.kind === 'StepRecorded' && other.episodeId === episodeId ? [other.payload] : [],
    );
    const { task, environment, environmentSeed, groupId } = event.payload;
    const facts = { runId: event.runId, episodeId, groupId, environment, environmentSeed, agent };
    const episode: StoredEpisode = {
      ...{
        ...facts,
        task: JSON.stringify(task),
        split: 'train',
        success: null,
        return: null,
        metadata: null,
      },
      ...{ endReason: null, endDetail: '', samplingSeed: null, sealed: true, tags: [], finalObservation: '' },
      startedAt: '',
      steps: steps.map(storedStep),
    };
    return [{ episode, read: readTexts(steps) }];
  });
}

/** The row of one step; undefined where the format makes none. */
export function rowOfStep(format: 'prompts' | 'sft', episode: StoredEpisode, step: number) {
  const plan = { split: 'train', members: [{ episode: { facts: episode }, step }] } as unknown as RowPlan;
  const built = DATASET_FORMATS[format].build(plan, [episode]);
  return built.kind === 'rows' ? built.rows[0] : undefined;
}

function storedStep(payload: StepRecorded): StoredEpisode['steps'][number] {
  const { step, observation, action, messages, info, tokenIds, actionMask, keptPrefixTokens } = payload;
  const marks = (info ?? {}) as Readonly<Record<string, Json>>;
  const { numHiddenTurns = null } = (marks.agent ?? {}) as Readonly<Record<string, Json>>;
  const first = actionMask.indexOf(1);
  return {
    ...{ step, occurredAt: '', observation, action, reward: null, anchor: null, model: '' },
    messages: messages as StoredEpisode['steps'][number]['messages'],
    keptMessages: (marks.keptMessages ?? null) as number | null,
    numHiddenTurns: numHiddenTurns as number | null,
    toolDefinitions: marks.toolDefinitions ?? null,
    numTokens: tokenIds.length,
    numPromptTokens: first < 0 ? tokenIds.length : first,
    keptPrefixTokens,
    usage: { inputTokens: null, cachedInputTokens: null, outputTokens: null, costUsd: null },
    tokens: null,
    details: null,
  };
}

function readTexts(steps: readonly StepRecorded[]): string[] {
  let context: readonly number[] = [];
  return steps.map(({ tokenIds, actionMask, keptPrefixTokens, action }) => {
    // Of a demonstration no token is sampled: its bytes are followed by the token that ends a turn.
    const first = actionMask.indexOf(1);
    const numPrompt = first < 0 ? tokenIds.length - Buffer.byteLength(action) - 1 : first;
    const kept = context.slice(0, keptPrefixTokens);
    context = [...kept, ...tokenIds];
    const read = [...kept, ...tokenIds.subarray(0, numPrompt)];
    return Buffer.from(read.filter((id) => id < 256)).toString();
  });
}
