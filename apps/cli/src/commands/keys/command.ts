import { Argument, InvalidArgumentError, Option } from '@commander-js/extra-typings';
import { KEY_SCOPES, type KeyScope } from '@retrace/process';
import { durationMs, newCommand } from '../../options.js';

const MAX_NAME_LENGTH = 100;

export const keysCommand = () =>
  newCommand('keys')
    .description('create, list or revoke the keys of the API')
    .addCommand(createCommand())
    .addCommand(listCommand())
    .addCommand(revokeCommand());

const createCommand = () =>
  newCommand('create')
    .description('create an API key and print it, once: only its hash is stored')
    .requiredOption('--name <name>', 'whom or what the key is for', keyName)
    .addOption(
      new Option('--scopes <list>', `what the key may do: ${KEY_SCOPES.join(', ')}, separated by commas`)
        .argParser(scopeList)
        .makeOptionMandatory(),
    )
    .option('--expires-in <duration>', 'such as 12h, 30d or 8w; without it the key never expires', durationMs)
    .action(async (_, command) => (await import('./keys.js')).createKey(command.optsWithGlobals()));

const listCommand = () =>
  newCommand('list')
    .description('list the API keys, without their secrets')
    .action(async (_, command) => (await import('./keys.js')).listKeys(command.optsWithGlobals()));

const revokeCommand = () =>
  newCommand('revoke')
    .description('revoke an API key, for ever')
    .addArgument(new Argument('<key>', 'its id, its prefix (retrace_…) or its name'))
    .action(async (key, _, command) => (await import('./keys.js')).revokeKey(key, command.optsWithGlobals()));

function keyName(text: string): string {
  const name = text.trim();
  if (name === '' || name.length > MAX_NAME_LENGTH || /\p{Cc}/u.test(name)) {
    throw new InvalidArgumentError(
      `It must have 1 to ${MAX_NAME_LENGTH} characters, none of them a control character.`,
    );
  }
  return name;
}

function scopeList(text: string): readonly KeyScope[] {
  const scopes = text.split(',').map((scope) => scope.trim());
  if (!scopes.every((scope): scope is KeyScope => KEY_SCOPES.includes(scope as KeyScope))) {
    throw new InvalidArgumentError(
      `It must be one or more of ${KEY_SCOPES.join(', ')}, separated by commas.`,
    );
  }
  return [...new Set(scopes)];
}
