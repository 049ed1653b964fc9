import { TinkerError } from '@retrace/tinker';
import { TrainerError } from '../../trainer-error.js';

/** After these the model in the server is gone, or nobody knows its state. */
const LOST: ReadonlySet<TinkerError['code']> = new Set([
  'MODEL_LOST',
  'NO_ANSWER',
  'FAILED',
  'MALFORMED_ANSWER',
]);

/** Does what asks the server. @throws TrainerError `ENGINE_REFUSED`, or else `otherwise` */
export async function asked<T>(
  work: () => Promise<T>,
  otherwise: 'ENGINE_LOST' | 'ENGINE_UNAVAILABLE' = 'ENGINE_LOST',
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TinkerError)) throw error;
    const code = LOST.has(error.code) ? otherwise : 'ENGINE_REFUSED';
    throw new TrainerError(code, `engine "tinker": ${error.message}`, { cause: error });
  }
}
