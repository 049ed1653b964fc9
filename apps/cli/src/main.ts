import { CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { toExitCode } from './exit-code.js';
import { createProgram } from './program.js';
import { forgetChosenRuns } from './run/said-runs.js';
import { commandEnvironment } from './data-directory/environment.js';
import { printError } from './terminal/print-error.js';

/**
 * Runs a command line and resolves with its exit code. Errors have been printed by then, each in one sentence, or with `--json` as one
 * JSON object.
 */
export async function runCli(args: readonly string[]): Promise<number> {
  const json = args.includes('--json');
  forgetChosenRuns();
  const program = await createProgram(args);
  throwInsteadOfExit(program, json);
  let running = '';
  program.hook('preAction', async (_, command) => {
    running = readName(command);
    const { checkpointStorage } = program.opts();
    // Children inherit it, like the variables of the storage's server and its credentials.
    if (typeof checkpointStorage === 'string')
      commandEnvironment.RETRACE_CHECKPOINT_STORAGE = checkpointStorage;
    const { checkBackendOption } = await import('./backend-option.js');
    await checkBackendOption(command);
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    const exitCode = toExitCode(error, running);
    // Commander prints its own errors, and help and the version.
    const isPrinted = error instanceof CommanderError && (!json || exitCode === 0);
    if (!isPrinted) printError(error, { json, verbose: args.includes('--verbose') });
    return exitCode;
  }
}

/** Name of a command as the program lists it: of `score diff` that is `score`. */
function readName(command: CommandUnknownOpts): string {
  return command.parent?.parent ? readName(command.parent) : command.name();
}

function throwInsteadOfExit(command: CommandUnknownOpts, json: boolean): void {
  command.exitOverride();
  if (json) command.configureOutput({ writeErr: () => undefined });
  command.commands.forEach((inner) => {
    throwInsteadOfExit(inner, json);
  });
}
