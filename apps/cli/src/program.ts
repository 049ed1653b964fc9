import { Command, Option, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { EXPERIMENTAL_HELP } from './experimental.js';
import { readVersion } from './installation.js';

/** The definition of each command, in the order of `--help`; each imports what it needs only when it runs. */
const COMMANDS: Readonly<Record<string, () => Promise<CommandUnknownOpts>>> = {
  up: async () => (await import('./commands/up/command.js')).upCommand(),
  train: async () => (await import('./commands/train/command.js')).trainCommand(),
  collect: async () => (await import('./commands/collect/command.js')).collectCommand(),
  validate: async () => (await import('./commands/validate/command.js')).validateCommand(),
  fork: async () => (await import('./commands/fork/command.js')).forkCommand(),
  play: async () => (await import('./commands/play/command.js')).playCommand(),
  env: async () => (await import('./commands/env/command.js')).envCommand(),
  sink: async () => (await import('./commands/sink/command.js')).sinkCommand(),
  api: async () => (await import('./commands/api/command.js')).apiCommand(),
  proxy: async () => (await import('./commands/proxy/command.js')).proxyCommand(),
  serve: async () => (await import('./commands/serve/command.js')).serveCommand(),
  sql: async () => (await import('./commands/sql/command.js')).sqlCommand(),
  verify: async () => (await import('./commands/verify/command.js')).verifyCommand(),
  export: async () => (await import('./commands/export/command.js')).exportCommand(),
  import: async () => (await import('./commands/import/command.js')).importCommand(),
  dataset: async () => (await import('./commands/dataset/command.js')).datasetCommand(),
  rebuild: async () => (await import('./commands/rebuild/command.js')).rebuildCommand(),
  deadletters: async () => (await import('./commands/deadletters/command.js')).deadlettersCommand(),
  runs: async () => (await import('./commands/runs/command.js')).runsCommand(),
  alarms: async () => (await import('./commands/alarms/command.js')).alarmsCommand(),
  delete: async () => (await import('./commands/delete/command.js')).deleteCommand(),
  retain: async () => (await import('./commands/retain/command.js')).retainCommand(),
  compact: async () => (await import('./commands/compact/command.js')).compactCommand(),
  replay: async () => (await import('./commands/replay/command.js')).replayCommand(),
  whatif: async () => (await import('./commands/whatif/command.js')).whatifCommand(),
  score: async () => (await import('./commands/score/command.js')).scoreCommand(),
  audit: async () => (await import('./commands/audit/command.js')).auditCommand(),
  evaluate: async () => (await import('./commands/evaluate/command.js')).evaluateCommand(),
  'save-policy': async () => (await import('./commands/save-policy/command.js')).savePolicyCommand(),
  recipes: async () => (await import('./commands/recipes/command.js')).recipesCommand(),
  backend: async () => (await import('./commands/backend/command.js')).backendCommand(),
  engine: async () => (await import('./commands/engine/command.js')).engineCommand(),
  keys: async () => (await import('./commands/keys/command.js')).keysCommand(),
  mcp: async () => (await import('./commands/mcp/command.js')).mcpCommand(),
  store: async () => (await import('./commands/store/command.js')).storeCommand(),
  doctor: async () => (await import('./commands/doctor/command.js')).doctorCommand(),
};

const VERSION_FLAGS: readonly string[] = ['-V', '--version'];

const EXIT_CODES = `
Exit codes:
  0    success
  1    a check found a fault, or the command failed
  2    the command line, an environment variable or the recipe is wrong; nothing was started
  3    doctor, evaluate, replay or verify could not tell: the data is insufficient, or they failed
  130  ended at once by a second Ctrl-C
  141  the reader of its output closed it, as in "retrace runs | head -1"`;

/** The part of the command line that `args` need: the command that they name, or all commands where they name none. */
export async function createProgram(args: readonly string[]): Promise<CommandUnknownOpts> {
  const program = new Command('retrace')
    .description('Event-sourced trajectory store and off-policy-aware trainer for LLM agents')
    .version(readVersion())
    .addOption(
      new Option('--data-dir <directory>', 'directory of the log, store and checkpoints')
        .env('RETRACE_DATA_DIR')
        .default('./.retrace'),
    )
    .option(
      '--checkpoint-storage <url>',
      'S3-compatible storage of the checkpoints in place of the data directory, as s3://bucket/prefix; the data directory remembers it',
    )
    .option('--json', 'machine-readable output')
    .option('--verbose', 'print stack traces with errors')
    .showHelpAfterError('(see --help)')
    .addHelpText('after', EXPERIMENTAL_HELP)
    .addHelpText('after', EXIT_CODES);
  const names = namesNeededFor(args[0]);
  for (const command of await Promise.all(names.map((name) => COMMANDS[name]()))) program.addCommand(command);
  return program;
}

function namesNeededFor(first: string | undefined): readonly string[] {
  if (first === undefined) return Object.keys(COMMANDS);
  if (VERSION_FLAGS.includes(first)) return [];
  return Object.hasOwn(COMMANDS, first) ? [first] : Object.keys(COMMANDS);
}
