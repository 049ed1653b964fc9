import { Argument, Command, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { ENGINE_BACKENDS, ENGINE_KINDS, MAX_TEMPERATURE, MIN_TEMPERATURE } from '@retrace/config/choices';
import type { BackendChoice } from '@retrace/process';

/** Options of the program, which every command takes. */
export type CommonOptions = Readonly<{ dataDir: string; json?: true; verbose?: true }>;

/** A command of the program; `optsWithGlobals` gives its action the common options too. */
export const newCommand = (name: string) =>
  new Command<[], Record<never, never>, CommonOptions>(name).configureHelp({ showGlobalOptions: true });

export const recipeOption = () =>
  new Option(
    '--recipe <name-or-file>',
    'built-in recipe (see "retrace recipes") or a .json or .jsonc file',
  ).default('frozen-lake-ppo');

export const setOption = () =>
  new Option(
    '--set <key=value>',
    'override a recipe field; can be repeated; RETRACE_SET holds others, one a line',
  ).argParser(collect);

export const algorithmOption = () =>
  new Option(
    '--algorithm <name>',
    'train the recipe by this algorithm instead of its own (see "retrace recipes --algorithms")',
  );

export const initFromOption = () =>
  new Option(
    '--init-from <policy>',
    'start from the policy of another run, "run:<run>[@<version>|@best]", or from a model directory such as ./model',
  );

export const overridesOption = () =>
  new Option(
    '--overrides <file>',
    '.json or .jsonc file with recipe fields that replace those of the recipe',
  );

const RUN_FORMS = 'its id, the first or last characters of it, or "latest"';

/** A run that a command is about; `help` says how: "score this run". */
export const runOption = (help: string) => new Option('--run <run>', `${help}: ${RUN_FORMS}`);

/** The same for a command that takes it as an argument. */
export const runArgument = (help: string) => new Argument('<run>', `${help}: ${RUN_FORMS}`);

export const backendOption = () =>
  new Option(
    '--backend <name>',
    'compute backend, instead of the fastest usable one; CUDA and webgpu are experimental, never run on a GPU',
  ).choices([
    'tensorflow-cuda',
    'tfjs-node-gpu',
    'tensorflow',
    'tfjs-node',
    'webgpu',
    'wasm',
    'cpu',
  ] as const satisfies readonly BackendChoice[]);

/** @param help what the engine does */
export const engineOption = (help: string) => new Option('--engine <kind>', help).choices(ENGINE_KINDS);

/** @param help what computes */
export const engineBackendOption = (help: string) =>
  new Option('--engine-backend <name>', help).choices(ENGINE_BACKENDS);

/** Reads a temperature within the bounds of a recipe. */
export const readTemperature = numberFrom(MIN_TEMPERATURE, MAX_TEMPERATURE);

/** Options that say what computes the gradients, in place of the recipe's section `engine`. */
export const engineOptions = () => [
  engineOption(
    'engine that computes the gradients, instead of the recipe’s: TensorFlow.js in the trainer, a torch worker (on GPUs: only one at a time was ever tried), or a server of the Tinker API',
  ),
  new Option('--nproc <number>', 'processes of the torch worker that the trainer starts').argParser(
    wholeNumber(1, 1024),
  ),
  engineBackendOption('what computes in the torch worker: its own model, or FSDP of the package verl'),
  new Option('--engine-python <program>', 'Python with torch that the worker runs in (default: "python3")'),
  new Option(
    '--engine-url <url>',
    'a torch worker that runs already (see "retrace engine torch --help"), or the server of --engine tinker',
  ).conflicts(['nproc', 'enginePython']),
  new Option(
    '--engine-token-file <path>',
    'file with the token of the worker, or the API key of the server, at --engine-url',
  ),
];

export const collectorsOption = () =>
  new Option('--collectors <number>', 'number of collector processes; each plays its share of every round')
    .argParser(wholeNumber(1, 64))
    .default(1);

export const niceOption = () =>
  new Option(
    '--nice <steps>',
    'steps of priority (0 … 19) that trainer and collectors run below API and store; the validator runs 9 further below',
  )
    .argParser(wholeNumber(0, 19))
    .default(10);

/** @param help whose metrics */
export const metricsPortOption = (help: string) =>
  new Option('--metrics-port <number>', `serve ${help} to Prometheus at this port of the loopback interface`)
    .env('RETRACE_METRICS_PORT')
    .argParser(wholeNumber(1, 65_535));

export const metricsFileOption = () =>
  new Option(
    '--metrics-file <path>',
    'write the metrics of each update to this file, one JSON object a line',
  );

export const tensorboardOption = () =>
  new Option(
    '--tensorboard <directory>',
    'write the metrics to event files below this log directory of TensorBoard',
  );

export const acceptOtherLogOption = () =>
  new Option(
    '--accept-other-log',
    'go on with a store that has events of another log, as after the log was lost and begun anew',
  );

/** Returns a parser for commander of whole numbers in [min, max]. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !Number.isInteger(value) || value < min || value > max) {
      const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
      throw new InvalidArgumentError(`It must be a whole number ${range}.`);
    }
    return value;
  };
}

/** Returns a parser for commander of numbers in [min, max]. */
export function numberFrom(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !(value >= min && value <= max)) {
      throw new InvalidArgumentError(`It must be a number from ${min} to ${max}.`);
    }
    return value;
  };
}

/** Returns a parser for commander of whole numbers of at least `min`, and of `latest`. */
export function wholeNumberOrLatest(min: number): (text: string) => number | 'latest' {
  const parse = wholeNumber(min);
  return (text) => (text === 'latest' ? text : parse(text));
}

/** Parses a point in time for commander, to milliseconds since the Unix epoch. */
export function pointInTime(text: string): number {
  const timeMs = Date.parse(text);
  if (Number.isNaN(timeMs)) {
    throw new InvalidArgumentError(
      'It must be a time in ISO 8601, such as 2026-11-21 or 2026-11-21T09:00:00Z.',
    );
  }
  return timeMs;
}

const UNIT_MS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Parses an age for commander, to milliseconds. */
export function durationMs(text: string): number {
  const [, count, unit] = /^(\d+)([mhdw])$/.exec(text) ?? [];
  if (count === undefined) {
    throw new InvalidArgumentError('It must be a whole number and a unit (m, h, d or w), such as 30d.');
  }
  return Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
}

/** Collects the values of a repeatable option for commander. */
export function collect(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value];
}
