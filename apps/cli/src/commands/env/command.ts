import { newCommand, wholeNumber } from '../../options.js';

const ENVIRONMENT =
  'a built-in environment, a module (.ts, .js, .mjs), or a .json or .jsonc file as the field of a recipe';

export const envCommand = () =>
  newCommand('env')
    .description('list environments, play one by hand, or check one of your own')
    .addCommand(listCommand())
    .addCommand(tryCommand())
    .addCommand(checkCommand());

const listCommand = () =>
  newCommand('list')
    .description('list the built-in environments and their scripted agents')
    .action(async (_, command) => {
      (await import('./list.js')).listAll(command.optsWithGlobals());
    });

const tryCommand = () =>
  newCommand('try')
    .description('play an episode in the terminal: each line is an action; an empty line ends it')
    .argument('<environment>', ENVIRONMENT)
    .option('--seed <number>', 'seed of the task', wholeNumber(0, 2 ** 31 - 1), 0)
    .option('--index <number>', 'which task of the seed', wholeNumber(0, 2 ** 31 - 1), 0)
    .action(async (environment, _, command) =>
      (await import('./try.js')).tryEnvironment(environment, command.optsWithGlobals()),
    );

const checkCommand = () =>
  newCommand('check')
    .description('check the rules that every environment must keep; exits with 1 if one is broken')
    .argument('<environment>', ENVIRONMENT)
    .option('--episodes <number>', 'number of episodes to play', wholeNumber(1, 10_000), 20)
    .action(async (environment, _, command) =>
      (await import('./check.js')).check(environment, command.optsWithGlobals()),
    );
