import { CommanderError, type Command } from 'commander';
import { printError } from './terminal/print-error.js';
import { createProgram } from './program.js';

/** Runs one command line. Resolves with the exit code; errors have been printed as one sentence. */
export async function runCli(args: readonly string[]): Promise<number> {
  const program = createProgram() as unknown as Command;
  throwInsteadOfExit(program);
  try {
    await program.parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    printError(error, { json: args.includes('--json'), verbose: args.includes('--verbose') });
    return 1;
  }
}

function throwInsteadOfExit(command: Command): void {
  command.exitOverride();
  command.commands.forEach(throwInsteadOfExit);
}
