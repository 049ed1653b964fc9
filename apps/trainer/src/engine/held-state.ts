import { readHeldState, type SafetensorsFile } from '@retrace/policy';
import { TrainerError } from '../trainer-error.js';

/**
 * Checks that a file of an optimizer holds its state itself.
 *
 * @throws TrainerError `ENGINE_REFUSED` for one that stands for a state in a server
 */
export function requireStateInFile(optimizer: SafetensorsFile): void {
  const held = readHeldState(optimizer);
  if (held === null) return;
  throw new TrainerError(
    'ENGINE_REFUSED',
    `the optimizer's state is in the server at ${held.url}, which does not hand it out (${held.path}); ` +
      `go on with engine "${held.engine}", or start a run from this policy with --init-from`,
  );
}
