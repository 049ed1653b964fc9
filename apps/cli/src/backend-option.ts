import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { readVariables, type BackendChoice } from '@retrace/process';
import { CliError } from './cli-error.js';
import { commandEnvironment } from './data-directory/environment.js';

/**
 * Checks the backend that `--backend` or RETRACE_BACKEND names, before the command makes a file or starts a process. Does nothing for
 * a command without that option, and where neither names one.
 *
 * @throws CliError `BACKEND_UNAVAILABLE` with the reason; ProcessError `ENVIRONMENT_VARIABLE_INVALID`
 */
export async function checkBackendOption(command: CommandUnknownOpts): Promise<void> {
  if (!command.options.some((option) => option.attributeName() === 'backend')) return;
  const { backend } = command.opts() as { readonly backend?: BackendChoice };
  const { RETRACE_BACKEND: fromEnvironment } = readVariables(commandEnvironment, {
    reads: ['RETRACE_BACKEND'],
  });
  // "up" and "train" install TensorFlow first unless the option names a backend.
  const named = backend ?? (fromEnvironment === 'tensorflow' ? undefined : fromEnvironment);
  if (named === undefined) return;
  const { backendObstacle } = await import('@retrace/compute');
  const obstacle = await backendObstacle(named);
  if (obstacle === null) return;
  throw new CliError(
    'BACKEND_UNAVAILABLE',
    `backend ${named} can't be used here: ${obstacle}; see "retrace backend list"`,
  );
}
