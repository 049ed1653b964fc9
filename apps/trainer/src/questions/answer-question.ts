import { writeFile } from 'node:fs/promises';
import { openBackend } from '@retrace/compute';
import { matrixProducts, parseRecipe, recordedRecipe, whatIfRecipe, type Recipe } from '@retrace/config';
import { ControlTail, openLog } from '@retrace/log';
import { checkpointsAt } from '@retrace/policy';
import type {
  BatchQuestion,
  ReplayQuestion,
  RunRoleConfig,
  SinkConfig,
  UpdateAnswerMessage,
  UpdateQuestion,
  WhatIfQuestion,
  WrittenBatch,
} from '@retrace/process';
import { AssignedRewards, StateVisits, type StoredRewards } from '@retrace/rewards/scoring';
import { createStoreClient, TrajectoryReader, type StoreClient } from '@retrace/store';
import { batchRows } from '../batches/batch-rows.js';
import { makeBatch } from '../batches/make-batch.js';
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
  /** Opens the backend that its updates were computed on. */
  readonly openItsBackend: () => Promise<unknown>;
}

/**
 * Answers a question of another process about recorded updates.
 *
 * @throws TrainerError, ConfigError and RewardError as `whatIf` and `replayUpdate`
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
    const recipe = readRecipe(question, control.run(runId).started.recipe);
    control.close();
    const prefer = config.backend === null ? undefined : [config.backend];
    const openItsBackend = () => openBackend({ ...matrixProducts(recipe), prefer });
    const source: ReplaySource = {
      ...{ log, runId },
      checkpoints: checkpointsAt(config.checkpoints),
      reader: new TrajectoryReader(client),
      visits: new StateVisits({ client, runId }),
      assigned: new AssignedRewards({ client }),
    };
    const run = { source, recipe, client, openItsBackend };
    await answerAsked(run, question, options);
  } finally {
    await client.close();
    await log.close();
  }
}

/** A recorded run was trained by no recipe. */
function readRecipe(question: UpdateQuestion, recorded: unknown): Recipe {
  const temperature = question.kind === 'batch' ? question.temperature : null;
  return temperature === null ? parseRecipe(recorded) : recordedRecipe(temperature);
}

function answerAsked(run: AskedRun, question: UpdateQuestion, options: AnswerOptions): Promise<void> {
  switch (question.kind) {
    case 'replay':
      return answerReplay(run, question, options);
    case 'whatIf':
      return answerWhatIf(run, question, options);
    case 'batch':
      return answerBatch(run, question, options);
  }
}

async function answerReplay(
  { source, openItsBackend }: AskedRun,
  { updateNumber }: ReplayQuestion,
  { send }: AnswerOptions,
): Promise<void> {
  await openItsBackend();
  const onRecompute = (from: number, to: number) => send({ type: 'recomputing', from, to });
  send({ type: 'answered', answer: await replayUpdate({ ...source, updateNumber, onRecompute }) });
}

async function answerWhatIf(
  { source, recipe, client, openItsBackend }: AskedRun,
  { runId, from, to, assignments, rewardVersion, withTokens }: WhatIfQuestion,
  { signal, send }: AnswerOptions,
): Promise<void> {
  await openItsBackend();
  await whatIf({
    ...source,
    ...{ from, to, assignments, withTokens, signal },
    rewards: await readRewards({ recipe, client }, { runId, assignments, rewardVersion }),
    onRecompute: (first, last) => send({ type: 'recomputing', from: first, to: last }),
    onUpdate: (answer) => send({ type: 'answered', answer }),
  });
}

/** Stored scores that are the rewards; null without a version. */
async function readRewards(
  { recipe, client }: Pick<AskedRun, 'recipe' | 'client'>,
  { runId, assignments, rewardVersion }: Pick<BatchQuestion, 'runId' | 'assignments' | 'rewardVersion'>,
): Promise<StoredRewards | null> {
  if (rewardVersion === null) return null;
  return storedRewards(client, { runId, recipe: whatIfRecipe(recipe, assignments), rewardVersion });
}

/** Writes the batch, and tells how much it is. */
async function answerBatch(
  { source, recipe, client, openItsBackend: beforeEngine }: AskedRun,
  { runId, rewardVersion, file, ...asked }: BatchQuestion,
  { send }: AnswerOptions,
): Promise<void> {
  const made = await makeBatch({
    ...source,
    ...{ ...asked, rewardVersion, beforeEngine },
    rewards: await readRewards({ recipe, client }, { runId, rewardVersion, ...asked }),
    onRecompute: (from, to) => send({ type: 'recomputing', from, to }),
  });
  const { tokenIds, sequenceOffsets } = made.prepared.batch.tokens;
  await writeFile(file, batchRows(made));
  const answer: WrittenBatch = { numSequences: sequenceOffsets.length - 1, numTokens: tokenIds.length };
  send({ type: 'answered', answer });
}
