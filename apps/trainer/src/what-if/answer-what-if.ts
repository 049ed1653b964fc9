import { openBackend } from '@retrace/compute';
import { matrixProducts, parseRecipe, type Recipe } from '@retrace/config';
import { ControlTail, openLog } from '@retrace/log';
import { checkpointsAt } from '@retrace/policy';
import type { RunRoleConfig, SinkConfig, WhatIfMessage, WhatIfQuestion } from '@retrace/process';
import { AssignedRewards, findVersion, StateVisits, StoredRewards } from '@retrace/scoring';
import { createStoreClient, TrajectoryReader, type StoreClient } from '@retrace/store';
import { whatIf } from './what-if.js';

interface AnswerOptions {
  /** Ends the answer after the update under way. */
  readonly signal: AbortSignal;
  readonly send: (message: WhatIfMessage) => void;
}

/**
 * Answers a question of another process what recorded updates would have been, update by update.
 *
 * @throws TrainerError, ConfigError and ScoringError as `whatIf`; ScoringError `VERSION_UNKNOWN`
 */
export async function answerWhatIf(
  config: Pick<RunRoleConfig, 'log' | 'runId' | 'checkpoints' | 'backend'> & Pick<SinkConfig, 'store'>,
  question: WhatIfQuestion,
  { signal, send }: AnswerOptions,
): Promise<void> {
  const { runId, rewardVersion } = question;
  const log = await openLog(config.log, 'what-if');
  const client = createStoreClient(config.store);
  try {
    const control = new ControlTail(log);
    await control.catchUp();
    const recipe = parseRecipe(control.run(runId).started.recipe);
    control.close();
    await openBackend({
      ...matrixProducts(recipe),
      prefer: config.backend === null ? undefined : [config.backend],
    });
    await whatIf({
      ...{ log, runId, signal },
      ...{ from: question.from, to: question.to, withTokens: question.withTokens },
      assignments: question.assignments,
      checkpoints: checkpointsAt(config.checkpoints),
      reader: new TrajectoryReader(client),
      visits: new StateVisits({ client, runId }),
      assigned: new AssignedRewards({ client }),
      rewards: rewardVersion === null ? null : await storedRewards(client, { runId, recipe, rewardVersion }),
      onRecompute: (from, to) => send({ type: 'recomputing', from, to }),
      onUpdate: (update) => send({ type: 'compared', update }),
    });
  } finally {
    await client.close();
    await log.close();
  }
}

interface WantedVersion {
  readonly runId: string;
  readonly recipe: Recipe;
  /** Name, or the first characters of the hash. */
  readonly rewardVersion: string;
}

/** Reads the scores of a reward version, which reach the tokens as the rewards of the run do. @throws ScoringError `VERSION_UNKNOWN` */
export async function storedRewards(
  client: StoreClient,
  { runId, recipe, rewardVersion }: WantedVersion,
): Promise<StoredRewards> {
  const { version } = await findVersion(client, runId, rewardVersion);
  return new StoredRewards(client, { runId, version, allocation: recipe.reward });
}
