import type { OpenPlayerOptions } from './open-player-options.js';
import { openPlayer } from './open-player.js';
import { playTasks, type PlayTasksOptions } from './play-tasks.js';

export interface CollectEpisodesOptions
  extends
    Pick<PlayTasksOptions, 'log' | 'engine' | 'codeVersion' | 'signal' | 'warn'>,
    Pick<OpenPlayerOptions, 'control' | 'checkpoints' | 'spec' | 'sampling'> {
  /** As `readPlayerName` reads it. */
  readonly policy: string;
  readonly numEpisodes: number;
  readonly seed: number;
}

export interface CollectResult {
  readonly runId: string;
  readonly numEpisodes: number;
  /** NaN when no episode has a known outcome. */
  readonly success: number;
  readonly meanReturn: number;
}

const MAX_CONCURRENT_EPISODES = 256;

/**
 * Collects episodes of training tasks outside any training run, one of each task, as a run of its own.
 *
 * @throws as `openPlayer` and `playTasks` do, also where each of the episodes failed
 */
export async function collectEpisodes(options: CollectEpisodesOptions): Promise<CollectResult> {
  const { control, spec, policy, numEpisodes, seed } = options;
  await control.catchUp();
  const maxConcurrent = Math.min(numEpisodes, MAX_CONCURRENT_EPISODES);
  const player = await openPlayer({ ...options, name: policy, maxSlots: maxConcurrent });
  const { source } = player;
  const recipe = {
    environment: spec.name,
    ...{ policy, numEpisodes, seed },
    fromRun: source?.runId ?? null,
    policyVersion: source?.policyVersion ?? null,
  };
  try {
    const { runId, metrics } = await playTasks({
      ...options,
      ...{ player, maxConcurrent, requiresEpisodes: true },
      selections: [{ split: 'train', seed, numTasks: numEpisodes, numAttempts: 1 }],
      run: { name: `collect-${spec.name}-${policy}`, seed, recipe, tags: [] },
    });

    const played = metrics.at(0);
    return {
      runId,
      numEpisodes: played ? numEpisodes : 0,
      success: played?.success ?? Number.NaN,
      meanReturn: played?.meanReturn ?? Number.NaN,
    };
  } finally {
    player.close();
  }
}
