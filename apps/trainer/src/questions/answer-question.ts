import { openBackend } from '@retrace/compute';
import { matrixProducts, parseRecipe, type Recipe } from '@retrace/config';
import { ControlTail, openLog } from '@retrace/log';
import { checkpointsAt } from '@retrace/policy';
import type {
  ReplayQuestion,
  RunRoleConfig,
  SinkConfig,
  UpdateAnswerMessage,
  UpdateQuestion,
  WhatIfQuestion,
} from '@retrace/process';
import { AssignedRewards, StateVisits } from '@retrace/scoring';
import { createStoreClient, TrajectoryReader, type StoreClient } from '@retrace/store';
import { replayUpdate } from '../replay/replay-update.js';
import type { ReplaySource } from '../replay/replayer.js';
import { storedRewards } from '../what-if/stored-rewards.js';
import { whatIf } from '../what-if/what-if.js';

interface AnswerOptions {
  /** Ends a what-if after the update under way. */
  readonly signal: AbortSignal;
  readonly send: (message: UpdateAnswerMessage) => void;
}

/** The run that is asked about. */
interface AskedRun {
  readonly source: ReplaySource;
  readonly recipe: Recipe;
  readonly client: StoreClient;
}

/**
 * Answers a question of another process about recorded updates.
 *
 * @throws TrainerError, ConfigError and ScoringError as `whatIf` and `replayUpdate`; ScoringError `VERSION_UNKNOWN`
 */
export async function answerQuestion(
  config: Pick<RunRoleConfig, 'log' | 'runId' | 'checkpoints' | 'backend'> & Pick<SinkConfig, 'store'>,
  question: UpdateQuestion,
  options: AnswerOptions,
): Promise<void> {
  const { runId } = question;
  const log = await openLog(config.log, 'questions');
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
    const source: ReplaySource = {
      ...{ log, runId },
      checkpoints: checkpointsAt(config.checkpoints),
      reader: new TrajectoryReader(client),
      visits: new StateVisits({ client, runId }),
      assigned: new AssignedRewards({ client }),
    };
    const run = { source, recipe, client };
    await (question.kind === 'replay'
      ? answerReplay(run, question, options)
      : answerWhatIf(run, question, options));
  } finally {
    await client.close();
    await log.close();
  }
}

async function answerReplay(
  { source }: AskedRun,
  { updateNumber }: ReplayQuestion,
  { send }: AnswerOptions,
): Promise<void> {
  const onRecompute = (from: number, to: number) => send({ type: 'recomputing', from, to });
  send({ type: 'answered', answer: await replayUpdate({ ...source, updateNumber, onRecompute }) });
}

async function answerWhatIf(
  { source, recipe, client }: AskedRun,
  { runId, from, to, assignments, rewardVersion, withTokens }: WhatIfQuestion,
  { signal, send }: AnswerOptions,
): Promise<void> {
  await whatIf({
    ...source,
    ...{ from, to, assignments, withTokens, signal },
    rewards: rewardVersion === null ? null : await storedRewards(client, { runId, recipe, rewardVersion }),
    onRecompute: (first, last) => send({ type: 'recomputing', from: first, to: last }),
    onUpdate: (answer) => send({ type: 'answered', answer }),
  });
}
