import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommanderError, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProgram } from '../../apps/cli/src/program.js';
import { root } from '../../scripts/run-tool.mjs';
import { placeOf, readBlocks } from './blocks.mjs';
import { PLACEHOLDER } from './statements.mjs';

/**
 * Programs of others in the pages' blocks. Here they only note how they are called; what `curl` asks of Retrace must be a route of the API. All
 * other programs are unknown, and a block that calls one fails.
 */
const NOTED = ['npx', 'retrace', 'npm', 'curl', 'jq', 'pip', 'tensorboard'];

/** Notes each call with its arguments, as the shell of a reader would split them. */
const SHELL = `
note() { printf '\\036' >&9; printf '%s\\037' "$@" >&9; }
${NOTED.map((name) => `${name}() { note ${name} "$@"; }`).join('\n')}
jq() { note jq "$@"; printf id; }
cd() { :; }
command_not_found_handle() { note unknown "$@"; }
PATH=
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'retrace-docs-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** The calls of a block, each with its arguments. */
function callsOf(block: string): readonly (readonly string[])[] {
  const noted = join(folder, 'calls');
  const script = `exec 9> calls\n${SHELL}\n${block.replace(PLACEHOLDER, 'id')}\nwait\n`;
  execFileSync('/bin/bash', ['-c', script], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  const calls = readFileSync(noted, 'utf8').split('\u001e').slice(1);
  return calls.map((call) => call.split('\u001f').slice(0, -1));
}

/** Asks the program whether it would run a command line; returns its refusal, or null. */
async function refusalOf(args: readonly string[]): Promise<string | null> {
  const program = await createProgram(args);
  let isTaken = false;
  quiet(program);
  program.hook('preAction', () => {
    isTaken = true;
    throw new CommanderError(0, 'taken', '');
  });
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    const { code = '', message } = error as CommanderError;
    return isTaken || code === 'commander.helpDisplayed' ? null : message;
  }
  return isTaken ? null : 'runs nothing';
}

function quiet(command: CommandUnknownOpts): void {
  command.exitOverride().configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
  command.commands.forEach(quiet);
}

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
const { paths } = JSON.parse(readFileSync(join(root, 'apps/api/openapi.json'), 'utf8')) as { paths: object };
const routes = Object.keys(paths).map((path) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`));

/** Whether a word is the address of something that the API of a server does not have. */
function isUnknownRoute(word: string): boolean {
  const path = /^(?:https?:\/\/)?(?:localhost|127\.0\.0\.1):8787(\/[^?]*)/.exec(word)?.[1];
  return path !== undefined && !routes.some((route) => route.test(path));
}

async function faultOf([program, ...args]: readonly string[]): Promise<string | null> {
  switch (program) {
    case 'retrace':
      return refusalOf(args);
    case 'npx':
      if (args[0] === 'retrace') return refusalOf(args.slice(1));
      return args[0] === 'vitest' ? null : 'no program of this repository';
    case 'npm':
      if (args[0] === 'start') return refusalOf(['up', ...args.slice(2)]);
      return args[0] === 'run' && !Object.hasOwn(scripts, args[1]) ? 'no such script' : null;
    case 'curl':
      return args.some(isUnknownRoute) ? 'no such route' : null;
    case 'unknown':
      return 'unknown program';
    default:
      return null;
  }
}

describe('command lines of the pages', () => {
  const blocks = readBlocks().filter(({ language }) => language === 'sh' || language === 'bash');

  it.each(blocks.map((block) => ({ ...block, place: placeOf(block) })))(
    '$place: each command, option and route exists',
    async ({ text }) => {
      const calls = callsOf(text);
      expect(calls.length + (/^export /m.test(text) ? 1 : 0)).toBeGreaterThan(0);
      for (const call of calls) expect(await faultOf(call), call.join(' ')).toBeNull();
    },
  );
});
