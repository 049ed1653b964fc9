import { Option } from '@commander-js/extra-typings';
import { readAllowedHosts } from '@retrace/page-guard';
import { backendOption, newCommand, runOption, wholeNumber, wholeNumberOrLatest } from '../../options.js';

/** The command with the options of the policy. */
const policyCommand = () =>
  newCommand('serve')
    .description(
      'serve a policy over the API of OpenAI (chat, completions, streams, tools, token ids): the newest of a run as it trains, a stored version, or a model directory',
    )
    .addOption(runOption('serve a policy of this run').default('latest'))
    .addOption(
      new Option('--policy-version <version>', 'version of the run; "latest" follows the run as it trains')
        .default('latest' as const)
        .argParser(wholeNumberOrLatest(0)),
    )
    .addOption(
      new Option(
        '--model <directory>',
        'serve the model in this Hugging Face directory, of no run',
      ).conflicts(['run', 'policyVersion']),
    )
    .option('--name <name>', 'name of the model in the API (default: of the recipe or the directory)');

export const serveCommand = () =>
  policyCommand()
    .addOption(
      new Option('--host <host>', 'address to listen on').env('RETRACE_SERVE_HOST').default('127.0.0.1'),
    )
    .addOption(
      new Option('--port <number>', 'port to listen on, 0 = any')
        .env('RETRACE_SERVE_PORT')
        .default(8789)
        .argParser(wholeNumber(0, 65_535)),
    )
    .addOption(
      new Option(
        '--allowed-hosts <names>',
        'further names of this host, with commas between them, and origins such as http://localhost:3000 whose pages may use the server',
      )
        .env('RETRACE_SERVE_ALLOWED_HOSTS')
        .default([] as readonly string[])
        .argParser(readAllowedHosts),
    )
    .option('--concurrency <number>', 'answers that are generated at once', wholeNumber(1, 1024), 16)
    .option(
      '--max-queued <number>',
      'answers that may wait; further requests get status 429',
      wholeNumber(0, 1_000_000),
      256,
    )
    .option(
      '--context-length <tokens>',
      'most tokens of a prompt and its answer (default: as the policy allows, at most 4096)',
      wholeNumber(2),
    )
    .addOption(
      new Option(
        '--logprobs-mode <mode>',
        'logprobs in answers: of the model (raw), or after temperature, top_k and top_p (processed)',
      )
        .choices(['raw_logprobs', 'processed_logprobs'] as const)
        .default('raw_logprobs' as const),
    )
    .addOption(backendOption())
    .action(async (_, command) => (await import('./serve-policy.js')).servePolicy(command.optsWithGlobals()));
