import { Option } from '@commander-js/extra-typings';
import { MODEL_SERVER_KINDS } from '@retrace/chat';
import { readAllowedHosts } from '@retrace/page-guard';
import { newCommand, numberFrom, wholeNumber } from '../../options.js';

/** The command with the options of the model server. */
export const upstreamCommand = () =>
  newCommand('proxy')
    .description(
      'record the calls of models that any agent makes: a server between the agent and its model, for the APIs of OpenAI, Anthropic, vLLM and SGLang',
    )
    .addOption(
      new Option(
        '--upstream <url>',
        'model server that calls are passed on to, such as http://127.0.0.1:8000/v1',
      )
        .env('RETRACE_PROXY_UPSTREAM')
        .makeOptionMandatory(),
    )
    .addOption(
      new Option('--upstream-kind <kind>', 'program of the model server (default: found by asking it)')
        .env('RETRACE_PROXY_UPSTREAM_KIND')
        .choices(MODEL_SERVER_KINDS),
    )
    .addOption(
      new Option(
        '--upstream-key-env <variable>',
        'environment variable with the key for the model server, where agents have none',
      ).env('RETRACE_PROXY_UPSTREAM_KEY_ENV'),
    )
    .addOption(
      new Option('--upstream-timeout <seconds>', 'longest silence of the model server during a call')
        .env('RETRACE_PROXY_UPSTREAM_TIMEOUT')
        .default(600)
        .argParser(numberFrom(0.1, 86_400)),
    )
    .addOption(
      new Option(
        '--logprob-mode <mode>',
        'whether the engine gives log-probabilities before temperature (raw) or after it (default: vLLM raw, SGLang processed)',
      )
        .env('RETRACE_PROXY_LOGPROB_MODE')
        .choices(['raw', 'processed'] as const),
    )
    .addOption(
      new Option(
        '--neutral-sampling',
        'ask vLLM and SGLang for temperature 1, top_p 1, no top_k, no min_p and no repetition penalty where an agent states none: they would take them from files of their model, and the calls could not be trained on',
      ).env('RETRACE_PROXY_NEUTRAL_SAMPLING'),
    )
    .addOption(
      new Option(
        '--tokenizer <path>',
        "directory of the server's model, or its tokenizer.json: steps name its tokenizer, so that a policy with the same one can be trained on them (default: the directory that the server tells, where it is on this machine)",
      ).env('RETRACE_PROXY_TOKENIZER'),
    );

export const proxyCommand = () =>
  upstreamCommand()
    .addOption(
      new Option('--host <host>', 'address to listen on').env('RETRACE_PROXY_HOST').default('127.0.0.1'),
    )
    .addOption(
      new Option('--port <number>', 'port to listen on, 0 = any')
        .env('RETRACE_PROXY_PORT')
        .default(8788)
        .argParser(wholeNumber(0, 65_535)),
    )
    .addOption(
      new Option(
        '--allowed-hosts <names>',
        'further names of this host, with commas between them, and origins such as http://localhost:3000 whose pages may use the proxy',
      )
        .env('RETRACE_PROXY_ALLOWED_HOSTS')
        .default([] as readonly string[])
        .argParser(readAllowedHosts),
    )
    .addOption(
      new Option('--retrace <url>', 'API of Retrace').env('RETRACE_URL').default('http://127.0.0.1:8787'),
    )
    .addOption(
      new Option('--retrace-key-env <variable>', 'environment variable with the key for Retrace')
        .env('RETRACE_PROXY_RETRACE_KEY_ENV')
        .default('RETRACE_API_KEY'),
    )
    .addOption(
      new Option('--run <name>', 'run that calls are recorded in, by its name, or the id of one that exists')
        .env('RETRACE_PROXY_RUN')
        .default('proxy'),
    )
    .addOption(
      new Option(
        '--state <directory>',
        'directory of what is not sent yet and of open episodes, on a local disk (default: "proxy" in the data directory)',
      ).env('RETRACE_PROXY_STATE'),
    )
    .addOption(
      new Option('--idle-minutes <number>', 'end episodes as abandoned after so long without a call')
        .env('RETRACE_PROXY_IDLE_MINUTES')
        .default(30)
        .argParser(numberFrom(0.01, 100_000)),
    )
    .addOption(
      new Option('--max-body-mib <number>', 'pass larger requests unrecorded; cut records of larger answers')
        .env('RETRACE_PROXY_MAX_BODY_MIB')
        .default(32)
        .argParser(numberFrom(0.01, 1024)),
    )
    .action(async (_, command) => (await import('./serve-proxy.js')).serveProxy(command.optsWithGlobals()));
