import {
  backendOption,
  newCommand,
  numberFrom,
  runOption,
  wholeNumber,
  wholeNumberOrLatest,
} from '../../options.js';

export const verifyCommand = () =>
  newCommand('verify')
    .description(
      'check that the store holds every acknowledged event exactly once, without gaps; exits 1 on any fault, 3 if it can’t tell',
    )
    .addCommand(verifyLogprobsCommand())
    .action(async (_, command) => (await import('./verify.js')).verify(command.optsWithGlobals()));

const verifyLogprobsCommand = () =>
  newCommand('logprobs')
    .description(
      'compute stored logprobs again under the policies that are said to have sampled the tokens; raises an alarm in the run and exits 1 if one differs by more than the bound, 3 if it can’t tell',
    )
    .addOption(runOption('check the episodes of this run').default('latest'))
    .option(
      '--policy <version>',
      'only tokens of this policy version, or "latest" (default: all whose weights are kept)',
      wholeNumberOrLatest(0),
    )
    .option(
      '--episodes <n>',
      'check at most this many episodes, drawn at random, up to 10000',
      wholeNumber(1, 10_000),
      500,
    )
    .option(
      '--bound <nats>',
      'largest difference of a logprob, from 0.000001 (default: collection.endpoint.maxLogprobDifference of the recipe, else 0.002)',
      numberFrom(1e-6, 100),
    )
    .option('--seed <n>', 'seed of the draw', wholeNumber(0), 0)
    .addOption(backendOption())
    .action(async (_, command) =>
      (await import('./verify-logprobs.js')).verifyLogprobs(command.optsWithGlobals()),
    );
