import { Option } from '@commander-js/extra-typings';
import { newCommand } from '../../options.js';

export const mcpCommand = () =>
  newCommand('mcp')
    .description(
      'serve runs, episodes, SQL and replays of a running server to coding agents, over the Model Context Protocol on standard input and output',
    )
    .addOption(
      new Option(
        '--url <url>',
        'server to ask (default: the one that runs on the data directory); its key is in RETRACE_API_KEY',
      ).env('RETRACE_URL'),
    )
    .option('--allow-control', 'also let agents start, queue, stop and resume runs (default: they only read)')
    .addHelpText('after', '\nExample:\n  claude mcp add retrace -- npx retrace mcp --data-dir ./.retrace')
    .action(async (_, command) => (await import('./mcp.js')).mcp(command.optsWithGlobals()));
