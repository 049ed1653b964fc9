import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { CollectorError } from '../collector-error.js';

/** A player as the command line names it. */
export type PlayerName =
  | { readonly kind: 'stored'; readonly name: string }
  | { readonly kind: 'directory'; readonly directory: string }
  | {
      readonly kind: 'endpoint';
      readonly api: 'openai' | 'anthropic';
      readonly url: string;
      readonly model: string;
    }
  | { readonly kind: 'tokenServer'; readonly url: string; readonly model: string }
  | { readonly kind: 'scripted'; readonly name: string };

const ENDPOINT = /^(openai|anthropic|vllm):(https?:\/\/[^#]+)#(.+)$/;

/**
 * Reads the name of a player: `latest` or `run:<id>[@<version>]` of the log, a path with a slash for a model directory,
 * `openai:<url>#<model>` or `anthropic:<url>#<model>` for a server of texts, `vllm:<url>#<model>` for one of tokens, or a scripted agent.
 *
 * @throws CollectorError `INVALID_SETTING` for a directory that is none and an address without its model
 */
export function readPlayerName(name: string): PlayerName {
  if (name === 'latest' || name.startsWith('run:')) return { kind: 'stored', name };
  if (/^(openai|anthropic|vllm):/.test(name)) return parseServer(name);
  if (!/[/\\]/.test(name)) return { kind: 'scripted', name };
  const directory = resolve(name);
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true)
    return { kind: 'directory', directory };
  throw new CollectorError('INVALID_SETTING', `policy: model directory "${name}" not found`);
}

function parseServer(name: string): PlayerName {
  const [, api, url, model] = ENDPOINT.exec(name) ?? [];
  if (model === undefined) {
    const rule = 'must be <api>:<url>#<model>, such as openai:http://127.0.0.1:8000/v1#my-model';
    throw new CollectorError('INVALID_SETTING', `policy: got "${name}", ${rule}`);
  }
  if (api === 'vllm') return { kind: 'tokenServer', url, model };
  return { kind: 'endpoint', api: api as 'openai' | 'anthropic', url, model };
}
