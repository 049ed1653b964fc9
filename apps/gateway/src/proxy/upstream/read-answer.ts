import type { IncomingMessage } from 'node:http';
import type { KeyMask } from './key-mask.js';

/**
 * Gives the bytes of an answer to `take`, in order. While what it returns is not resolved, nothing more is read.
 *
 * @param mask hides a key in them
 * @throws Error when the answer breaks off, or what `take` throws, which ends the answer
 */
export function readAnswer(
  answer: IncomingMessage,
  mask: KeyMask | null,
  take: (bytes: Buffer) => Promise<void> | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let taken: Promise<void> | undefined;
    const give = (bytes: Buffer) => (bytes.length > 0 ? take(bytes) : undefined);
    const fail = (error: unknown) => {
      reject(error as Error);
      answer.destroy();
    };
    answer.on('data', (bytes: Buffer) => {
      try {
        taken = give(mask ? mask.mask(bytes) : bytes);
      } catch (error) {
        fail(error);
      }
      if (!taken) return;
      answer.pause();
      taken.then(() => {
        taken = undefined;
        answer.resume();
      }, fail);
    });
    answer.once('end', () => {
      Promise.resolve(taken)
        .then(() => mask && give(mask.rest()))
        .then(() => {
          resolve();
        }, reject);
    });
    answer.once('error', reject).once('close', () => {
      if (!answer.readableEnded) reject(new Error('The upstream broke off its answer'));
    });
  });
}
