import { Replayer, type ReplaySource } from '../replay/replayer.js';
import { TrainerError } from '../trainer-error.js';

/**
 * Writes the files of a committed update again, whose own are missing or damaged: goes back to the newest checkpoint that can be read, and
 * makes the updates since again from their plans. Returns the update whose checkpoint that was, 0 for the start of the run.
 *
 * @throws TrainerError `CHECKPOINT_LOST` where the result is not the committed one bit for bit, as on another backend or kind of processor
 */
export async function remakeState(source: ReplaySource, updateNumber: number): Promise<number> {
  const replayer = await Replayer.open(source);
  try {
    const { commit } = replayer.update(updateNumber);
    if (commit.engine?.kind === 'tinker') throw heldElsewhere(updateNumber);
    const { beganAfter, firstInexact } = await replayer.goBefore(updateNumber + 1);
    const { weights, optimizer } = await replayer.engine.nameState(commit.weights);
    if (weights.sha256 === commit.weights.sha256 && optimizer.sha256 === commit.optimizer.sha256) {
      await replayer.engine.save(undefined, undefined, commit.weights);
      return beganAfter;
    }
    const from = firstInexact ?? updateNumber;
    throw new TrainerError(
      'CHECKPOINT_LOST',
      `the checkpoint of update ${updateNumber} can't be read, and made again from update ${beganAfter} on it differs by rounding since update ${from}; ` +
        'restore the file from a backup, or resume on the backend and processor that made it',
    );
  } finally {
    await replayer.close();
  }
}

function heldElsewhere(updateNumber: number): TrainerError {
  return new TrainerError(
    'CHECKPOINT_LOST',
    `the checkpoint of update ${updateNumber} can't be read; its state is in a Tinker server under a name that only these files have, and made again it would have another one; restore the files from a backup`,
  );
}
