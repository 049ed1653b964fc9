import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { exitCodeOf } from './exit-code.js';
import { createProgram } from './program.js';
import { printError } from './terminal/print-error.js';

/** Runs a command line and resolves with its exit code. Errors have been printed by then, each in one sentence. */
export async function runCli(args: readonly string[]): Promise<number> {
  const program = await createProgram(args);
  throwInsteadOfExit(program);
  try {
    await program.parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    const { exitCode, isPrinted } = exitCodeOf(error);
    if (!isPrinted) printError(error, { json: args.includes('--json'), verbose: args.includes('--verbose') });
    return exitCode;
  }
}

function throwInsteadOfExit(command: CommandUnknownOpts): void {
  command.exitOverride();
  command.commands.forEach(throwInsteadOfExit);
}
