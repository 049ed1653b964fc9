import { InvalidArgumentError, Option } from '@commander-js/extra-typings';
import type { PlayRequest } from './play-request.js';
import type { PolicyPrice } from './policy-price.js';
import {
  backendOption,
  collect,
  newCommand,
  numberFrom,
  readTemperature,
  wholeNumber,
} from '../../options.js';

const SPLITS = ['train', 'validation', 'test'] as const;
type PlaySplit = (typeof SPLITS)[number];

/** The options as commander reads them. */
interface GivenOptions extends Omit<
  PlayRequest,
  'policies' | 'environments' | 'splits' | 'seeds' | 'prices'
> {
  readonly policy?: readonly string[];
  readonly environment?: readonly string[];
  readonly split?: readonly PlaySplit[];
  readonly seed?: readonly number[];
  readonly price?: readonly PolicyPrice[];
  readonly show?: string;
  readonly resume?: string;
}

export const playCommand = () =>
  newCommand('play')
    .description(
      'play the same tasks with one or more policies, and report success, pass@k, return, tokens and cost with intervals; the episodes are stored',
    )
    .option(
      '--policy <name>',
      'who plays, repeatable: "latest", "run:<id>[@<version>]", a model directory (./model), openai:<url>#<model>, anthropic:<url>#<model>, vllm:<url>#<model>, or a scripted agent',
      collect,
    )
    .option(
      '--environment <name-or-file>',
      'where to play, repeatable: a built-in environment, a module (.ts, .js, .mjs), or a .json or .jsonc file as the field of a recipe (default: that of --recipe, or that of the policy’s run)',
      collect,
    )
    .option(
      '--recipe <name-or-file>',
      'recipe with the environment, and with the context of model directories and servers',
    )
    .addOption(
      new Option('--split <name>', 'split of the tasks, repeatable (default: test)').argParser(splits),
    )
    .addOption(
      new Option('--seed <number>', 'seed of tasks and sampling, repeatable (default: 0)').argParser(seeds),
    )
    .option('-n, --tasks <number>', 'tasks of each split and seed', wholeNumber(1, 1_000_000), 100)
    .option('-k, --attempts <number>', 'episodes of each task, for pass@k', wholeNumber(1, 1024), 1)
    .option('--greedy', 'take the likeliest tokens instead of sampling')
    .option('--temperature <number>', 'of sampling (default: as in training, or 1)', readTemperature)
    .option('--top-k <number>', 'sample only among this many most likely tokens', wholeNumber(1))
    .option(
      '--top-p <share>',
      'sample only among the likeliest tokens of this probability',
      numberFrom(0.001, 1),
    )
    .option('--concurrency <number>', 'most episodes at the same time', wholeNumber(1, 8192), 64)
    .option('--api-key-variable <name>', 'environment variable that holds the API key of a server')
    .addOption(priceOption())
    .option('--show <play>', 'report a play that is stored: its id, or "latest"')
    .option(
      '--resume <play>',
      'go on with a play that was interrupted: its id, or "latest"; all other options are as they were',
    )
    .addOption(backendOption())
    .action((_, command) => runPlay(command.optsWithGlobals(), (fault) => command.error(fault)));

/** Plays, goes on with a play, or shows one, as the options say. */
async function runPlay(
  { show, resume, policy = [], split = ['test'], seed = [0], price = [], ...options }: GivenOptions,
  refuse: (fault: string) => never,
): Promise<void> {
  if (show !== undefined) return (await import('./show-play.js')).showPlay(show, options);
  if (resume !== undefined) {
    if (policy.length > 0) return refuse("error: '--resume' takes no '--policy'");
    return (await import('./resume-play.js')).resumePlay(resume, options);
  }
  if (policy.length === 0) return refuse("error: required: '--policy', '--show', or '--resume'");
  return (await import('./play.js')).play({
    ...options,
    environments: options.environment ?? [],
    ...{ policies: policy, splits: split, seeds: seed, prices: price },
  });
}

const priceOption = () =>
  new Option(
    '--price <input/output>',
    'US dollars for a million tokens read and written, such as 0.15/0.60; for one policy as <policy>=0.15/0.60; repeatable',
  ).argParser(prices);

function splits(text: string, previous: readonly PlaySplit[] = []): readonly PlaySplit[] {
  const split = SPLITS.find((name) => name === text);
  if (split === undefined) throw new InvalidArgumentError(`It must be one of ${SPLITS.join(', ')}.`);
  return [...previous, split];
}

function seeds(text: string, previous: readonly number[] = []): readonly number[] {
  return [...previous, wholeNumber(0, 2 ** 31 - 1)(text)];
}

function prices(text: string, previous: readonly PolicyPrice[] = []): readonly PolicyPrice[] {
  const [, policy, input, output] = /^(?:(.+)=)?(\d+(?:\.\d+)?)\/(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  if (output === undefined) {
    throw new InvalidArgumentError('It must be two numbers with a slash, such as 0.15/0.60.');
  }
  const price = { inputUsdPerMillion: Number(input), outputUsdPerMillion: Number(output) };
  return [...previous, { policy: (policy as string | undefined) ?? null, price }];
}
