import { PolicyError } from '../policy-error.js';
import type { FileRef } from './file-ref.js';

/** The error of a disk that refuses. */
export function notWritten(cause: unknown): PolicyError {
  if (cause instanceof PolicyError) return cause;
  const reason = (cause as NodeJS.ErrnoException).code ?? String(cause);
  return new PolicyError(
    'CHECKPOINT_NOT_WRITTEN',
    `a checkpoint file could not be written (${reason}); free disk space or fix the permissions of the checkpoint directory`,
    { cause, retriable: true },
  );
}

/** Names the file that is missing; other errors stay. */
export function refuseMissing({ sha256 }: FileRef): (cause: NodeJS.ErrnoException) => never {
  return (cause) => {
    if (cause.code !== 'ENOENT') throw cause;
    throw new PolicyError('CHECKPOINT_MISSING', `checkpoint file ${sha256} does not exist`, { cause });
  };
}

/** @throws PolicyError `CHECKPOINT_CORRUPT` where the content that was found is another */
export function requireContent(ref: FileRef, found: FileRef): void {
  if (found.sizeBytes === ref.sizeBytes && found.sha256 === ref.sha256) return;
  throw new PolicyError(
    'CHECKPOINT_CORRUPT',
    `checkpoint file ${ref.sha256} has ${found.sizeBytes} bytes that don't match its hash; it should have ${ref.sizeBytes}`,
  );
}

/** The error of a file that another process removed while a checkpoint with it was written. */
export function removedMeanwhile(sha256: string): PolicyError {
  return new PolicyError(
    'CHECKPOINT_NOT_WRITTEN',
    `file ${sha256} was removed by another process while its checkpoint was written; nothing was committed, and the trainer writes it again once it is started again`,
    { retriable: true },
  );
}
