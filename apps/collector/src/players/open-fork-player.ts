import type { ControlTail } from '@retrace/log';
import type { Json } from '@retrace/trajectory';
import { openPlayer } from './open-player.js';
import type { OpenPlayerOptions } from './open-player-options.js';
import type { ForkPlayer } from './fork-episodes.js';
import type { ForkedStep } from '../fork/forked-step.js';

interface OpenForkPlayerOptions extends Omit<OpenPlayerOptions, 'name'> {
  readonly point: ForkedStep;
  /** As `readPlayerName` reads it; null is the one that acted in the step. */
  readonly policy: string | null;
}

/**
 * Opens who goes on from a step.
 *
 * @throws as `openPlayer` does
 */
export async function openForkPlayer({
  point,
  policy,
  ...options
}: OpenForkPlayerOptions): Promise<ForkPlayer> {
  const own = ownPolicy(options.control, point);
  const player = await openPlayer({ ...options, name: policy ?? own });
  // A scripted agent reads the environment itself, and no tokens.
  return { ...player, ownsEpisode: player.source !== null && player.description === own };
}

/** The name of the policy or agent that acted in the step. */
function ownPolicy(control: ControlTail, { runId, started, steps, step }: ForkedStep): string {
  const { recipe } = control.run(runId).started;
  // The versions of a fork's tokens are those of another run's policies.
  const { fork } = recipe as { readonly fork?: { readonly policy: string } };
  if (fork !== undefined) return fork.policy;
  const { actionMask, tokenPolicyVersions } = steps[step];
  const version = tokenPolicyVersions[actionMask.indexOf(1)] ?? -1;
  if (version >= 0) return `run:${runId}@${version}`;
  return playedPolicy(recipe) ?? started.agent;
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
