import { createHash } from 'node:crypto';
import { episodeLimits, parseRecipe, type ContextRecipe, type Recipe } from '@retrace/config';
import type { EnvironmentSpec } from '@retrace/environments';
import { openPolicyText, type CheckpointFiles } from '@retrace/policy';
import { newRunId, type SamplingParameters } from '@retrace/trajectory';
import { PatientLog, WarningLog, type EventLog, type WarningLogOptions } from '@retrace/log';
import type { ControlTail } from '@retrace/log';
import type { Actor } from '../actors/actor.js';
import { findStoredPolicy, type StoredPolicy } from '../actors/find-stored-policy.js';
import { storedPolicyActor } from '../actors/stored-policy-actor.js';
import { maxAnswerCharacters } from './environment-answer.js';
import { FailureStreak } from './failure-streak.js';
import { openLoop } from '../loop/open-loop.js';
import { playRound, type RoundSetting } from '../round/play-round.js';
import { planRound } from '../round/round-plan.js';
import { TrajectoryWriter } from '../writer/trajectory-writer.js';
import { scriptedAgent, ScriptedActor } from '../actors/scripted-actor.js';

export interface CollectEpisodesOptions {
  readonly log: EventLog;
  readonly control: ControlTail;
  readonly checkpoints: CheckpointFiles;
  readonly environment: EnvironmentSpec;
  /** A policy as `findStoredPolicy` reads it, or a scripted agent of the environment. */
  readonly policy: string;
  readonly numEpisodes: number;
  readonly seed: number;
  /** How the policy samples; what is left out is as in its training. */
  readonly sampling?: Partial<Pick<SamplingParameters, 'temperature' | 'topK' | 'topP'>>;
  readonly engine: string;
  readonly codeVersion: string;
  readonly signal: AbortSignal;
  /** Shows the warnings, which are events of the run too. */
  readonly warn?: WarningLogOptions['show'];
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
 * Collects episodes of one environment outside any training run, as a run of its own.
 *
 * @throws EnvironmentError for an unknown agent; CollectorError `NO_POLICY` when there is no latest policy
 */
export async function collectEpisodes(options: CollectEpisodesOptions): Promise<CollectResult> {
  const { control, numEpisodes, seed, log } = options;
  const { environment: spec } = options;
  await control.catchUp();
  const source = findStoredPolicy(control, spec, options.policy);
  const recipe = source ? parseRecipe(source.run.started.recipe) : null;
  const context: ContextRecipe = recipe
    ? recipe.context
    : { window: 'observation', tokenizer: spec.words === null ? 'byte' : 'word', maxNewTokens: 1 };
  const text = await openPolicyText({
    tokenizer: context.tokenizer,
    words: spec.words,
    directory: recipe?.policy?.model,
    useChatTemplate: recipe?.policy?.chatTemplate,
  });
  const concurrentEpisodes = Math.min(numEpisodes, MAX_CONCURRENT_EPISODES);
  const { checkpoints, sampling } = options;
  const actor: Actor = source
    ? await storedPolicyActor({ ...source, checkpoints, text, maxSlots: concurrentEpisodes, sampling })
    : new ScriptedActor(scriptedAgent(spec, options.policy), text, context.maxNewTokens);
  const runId = await startRun(options, spec, source);
  const episodes = planRound({
    runId,
    seed,
    spec,
    split: 'train',
    agent: source ? 'policy' : options.policy,
    trainable: false,
    round: 0,
    numGroups: numEpisodes,
    groupSize: 1,
    firstTask: 0,
    firstOrdinal: 0,
    maxCharacters: maxAnswerCharacters(log.maxEventBytes),
  });
  const { engine, signal, policy: model } = options;
  const writer = await TrajectoryWriter.open(log, { signal });
  const warnings = new WarningLog({ control, runId, show: options.warn });
  const beginLoop = await openLoop(recipe ?? { context, collection: {} });
  const parts = { ...limitsOf(spec, recipe, warnings), control, writer, spec, text, beginLoop };
  const metrics = await playRound(
    {
      ...{ ...parts, runId, shareIndex: 0, concurrentEpisodes, engine, model, signal },
      log: new PatientLog(log, { signal }),
    },
    { episodes, actor, policyVersion: -1, idleSeconds: 0 },
  ).finally(() => warnings.flush());
  await writer.close();
  await control.append(runId, {
    kind: 'RunEnded',
    payload: { reason: metrics ? 'finished' : 'stopped', detail: '', numUpdates: 0 },
  });
  return {
    runId,
    numEpisodes: metrics ? numEpisodes : 0,
    success: metrics?.success ?? Number.NaN,
    meanReturn: metrics?.meanReturn ?? Number.NaN,
  };
}

function limitsOf(
  { name }: EnvironmentSpec,
  recipe: Recipe | null,
  warnings: WarningLog,
): Pick<RoundSetting, 'limits' | 'failures'> {
  const limits = episodeLimits(recipe ?? { collection: {}, context: {} });
  return { limits, failures: new FailureStreak({ environment: name, ...limits, warnings }) };
}

/** Appends the start of a run for these episodes, and returns its id. */
async function startRun(
  { control, policy, numEpisodes, seed, codeVersion }: CollectEpisodesOptions,
  { name: environment }: EnvironmentSpec,
  source: StoredPolicy | null,
): Promise<string> {
  const runId = newRunId();
  const collection = {
    environment,
    policy,
    numEpisodes,
    seed,
    fromRun: source?.run.runId ?? null,
    policyVersion: source?.policy.policyVersion ?? null,
  };
  await control.append(runId, {
    kind: 'RunStarted',
    payload: {
      name: `collect-${environment}-${policy}`,
      runKind: 'trained',
      recipe: collection,
      recipeHash: createHash('sha256').update(JSON.stringify(collection)).digest('hex'),
      seed,
      environment,
      codeVersion,
      baselines: [],
      tags: [],
      metadata: null,
    },
  });
  return runId;
}
