import { episodeLimits, parseRecipe, type ContextRecipe } from '@retrace/config';
import type { EnvironmentSpec } from '@retrace/environments';
import type { ControlTail } from '@retrace/log';
import { openPolicyText, type CheckpointFiles } from '@retrace/policy';
import type { Json } from '@retrace/trajectory';
import { findStoredPolicy, type StoredPolicy } from '../actors/find-stored-policy.js';
import { ScriptedActor, scriptedAgent } from '../actors/scripted-actor.js';
import { storedPolicyActor } from '../actors/stored-policy-actor.js';
import { openLoop } from '../loop/open-loop.js';
import type { ForkPlayer } from './fork-episodes.js';
import type { ForkedStep } from './forked-step.js';

interface OpenForkPlayerOptions {
  readonly control: ControlTail;
  readonly checkpoints: CheckpointFiles;
  readonly spec: EnvironmentSpec;
  readonly point: ForkedStep;
  /** As `findStoredPolicy` reads it, or a scripted agent; null is the one that acted in the step. */
  readonly policy: string | null;
  readonly maxSlots: number;
}

/**
 * Opens who goes on from a step.
 *
 * @throws EnvironmentError `UNKNOWN_AGENT`; CollectorError `NO_POLICY`; PolicyError when the weights were removed
 */
export async function openForkPlayer(options: OpenForkPlayerOptions): Promise<ForkPlayer> {
  const { control, spec, point } = options;
  const own = ownPolicy(control, point);
  const name = options.policy ?? own;
  const stored = findStoredPolicy(control, spec, name);
  return stored === null ? scriptedPlayer(spec, name) : storedPlayer(options, stored, own);
}

async function storedPlayer(
  { checkpoints, maxSlots, spec }: OpenForkPlayerOptions,
  { run, policy }: StoredPolicy,
  own: string,
): Promise<ForkPlayer> {
  const recipe = parseRecipe(run.started.recipe);
  const text = await openPolicyText({
    tokenizer: recipe.context.tokenizer,
    words: spec.words,
    directory: recipe.policy?.model,
    useChatTemplate: recipe.policy?.chatTemplate,
  });
  const description = `run:${run.runId}@${policy.policyVersion}`;
  return {
    actor: await storedPolicyActor({ checkpoints, run, policy, text, maxSlots }),
    text,
    maxNewTokens: recipe.context.maxNewTokens,
    beginLoop: await openLoop(recipe),
    limits: episodeLimits(recipe),
    agent: 'policy',
    description,
    ownsEpisode: description === own,
  };
}

async function scriptedPlayer(spec: EnvironmentSpec, name: string): Promise<ForkPlayer> {
  const agent = scriptedAgent(spec, name);
  const context: ContextRecipe = {
    window: 'observation',
    tokenizer: spec.words === null ? 'byte' : 'word',
    maxNewTokens: 1,
  };
  const text = await openPolicyText({
    tokenizer: context.tokenizer,
    words: spec.words,
    directory: undefined,
  });
  return {
    actor: new ScriptedActor(agent, text, context.maxNewTokens),
    text,
    maxNewTokens: context.maxNewTokens,
    beginLoop: await openLoop({ context, collection: {} }),
    limits: episodeLimits({ collection: {}, context: {} }),
    agent: name,
    description: name,
    // It reads the environment itself, and no tokens.
    ownsEpisode: false,
  };
}

/** The name of the policy or agent that acted in the step. */
function ownPolicy(control: ControlTail, { runId, started, steps, step }: ForkedStep): string {
  const { actionMask, tokenPolicyVersions } = steps[step];
  const version = tokenPolicyVersions[actionMask.indexOf(1)] ?? -1;
  if (version >= 0) return `run:${runId}@${version}`;
  return playedPolicy(control.run(runId).started.recipe) ?? started.agent;
}

/** The policy of another run that a run of `retrace collect` played; null for a scripted agent. */
function playedPolicy(recipe: Json): string | null {
  const { fromRun, policyVersion } = recipe as {
    readonly fromRun?: unknown;
    readonly policyVersion?: unknown;
  };
  return typeof fromRun === 'string' && typeof policyVersion === 'number'
    ? `run:${fromRun}@${policyVersion}`
    : null;
}
