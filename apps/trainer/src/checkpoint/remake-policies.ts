import { isUnreadable, type CheckpointFiles } from '@retrace/policy';
import type { PolicyPublished } from '@retrace/trajectory';
import { describeOrigin, Replayer, type ReplaySource } from '../replay/replayer.js';

/**
 * Writes the weights of published policies again whose files are missing or damaged: goes back to the newest checkpoint before each that can
 * be read, and makes the updates since again from their plans. One that does not come out bit for bit, or not at all, stays as it is.
 *
 * @param policies in the order of their versions, so that one which others are compared with is there first
 * @param say takes what was found and what came of it, in sentences for the user
 */
export async function remakePolicies(
  source: ReplaySource,
  policies: readonly PolicyPublished[],
  say: (message: string) => void,
): Promise<void> {
  const unreadable: PolicyPublished[] = [];
  for (const policy of policies) {
    const reason = await whyUnreadable(source.checkpoints, policy);
    if (reason === null) continue;
    say(
      `policy ${policy.policyVersion}: ${reason}; making its weights again from the checkpoint before them`,
    );
    unreadable.push(policy);
  }
  if (unreadable.length === 0) return;
  const replayer = await Replayer.open(source);
  try {
    const made: string[] = [];
    for (const policy of unreadable) {
      const result = await remake(replayer, policy);
      if ('origin' in result) made.push(`policy ${policy.policyVersion} from ${result.origin}`);
      else say(`policy ${policy.policyVersion}: ${result.failure}`);
    }
    if (made.length > 0) say(`weights were made again, bit for bit: ${made.join(', ')}`);
  } finally {
    await replayer.close();
  }
}

async function whyUnreadable(
  checkpoints: CheckpointFiles,
  { weights }: PolicyPublished,
): Promise<string | null> {
  try {
    await (await checkpoints.open(weights)).close();
    return null;
  } catch (error) {
    if (isUnreadable(error)) return error.message;
    throw error;
  }
}

type Remade = { readonly origin: string } | { readonly failure: string };

async function remake(replayer: Replayer, { updateNumber, weights }: PolicyPublished): Promise<Remade> {
  try {
    const { beganAfter } = await replayer.goBefore(updateNumber + 1);
    const origin = describeOrigin(beganAfter);
    const { sha256 } = await replayer.engine.nameWeights(weights);
    if (sha256 !== weights.sha256) {
      const advice = 'restore the file from a backup, or resume on the backend and processor that made it';
      return {
        failure: `its weights, made again from ${origin}, differ by rounding, or were written by another number of processes; ${advice}`,
      };
    }
    await replayer.engine.saveWeights(undefined, weights);
    return { origin };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { failure: `its weights can't be made again (${reason}); restore the file from a backup` };
  }
}
