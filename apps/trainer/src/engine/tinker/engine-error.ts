import { TinkerError } from '@retrace/tinker';
import { TrainerError } from '../../trainer-error.js';

/** After these nobody knows the state of the model in the server, or it is gone. */
const LOST: ReadonlySet<TinkerError['code']> = new Set([
  'MODEL_LOST',
  'NO_ANSWER',
  'FAILED',
  'MALFORMED_ANSWER',
]);
/** After these the server may do better later. */
const UNAVAILABLE: ReadonlySet<TinkerError['code']> = new Set(['MODEL_LOST', 'NO_ANSWER']);

/** Asks the server for something of a model that is open. @throws TrainerError `ENGINE_LOST`, `ENGINE_REFUSED` */
export function asked<T>(work: () => Promise<T>): Promise<T> {
  return translated(work, ({ code }) => (LOST.has(code) ? 'ENGINE_LOST' : 'ENGINE_REFUSED'));
}

/** Asks it for what changes the model in several calls, of which a part may be applied. @throws TrainerError `ENGINE_LOST` */
export function changed<T>(work: () => Promise<T>): Promise<T> {
  return translated(work, () => 'ENGINE_LOST');
}

/** Opens something in the server. @throws TrainerError `ENGINE_UNAVAILABLE`, `ENGINE_REFUSED` */
export function opened<T>(work: () => Promise<T>): Promise<T> {
  return translated(work, ({ code }) => (UNAVAILABLE.has(code) ? 'ENGINE_UNAVAILABLE' : 'ENGINE_REFUSED'));
}

async function translated<T>(
  work: () => Promise<T>,
  codeOf: (error: TinkerError) => TrainerError['code'],
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TinkerError)) throw error;
    throw new TrainerError(codeOf(error), `engine "tinker": ${error.message}`, { cause: error });
  }
}
