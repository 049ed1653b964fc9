import type { IncomingHttpHeaders } from 'node:http';
import type { JsonValue } from '@retrace/client';
import type { EpisodeEnding } from '../record/call-recorder.js';
import type { EpisodeHeaders } from '../record/call-records.js';

/** Facts about its episode that a call tells outside of its body. */
export interface CallHeaders extends EpisodeHeaders {
  /** Name or id of the run; null: the proxy's. */
  readonly run: string | null;
  /** null: found by the prompt. */
  readonly episode: string | null;
  readonly ending: EpisodeEnding | null;
  /** The agent's key names the episode, so it is not the upstream's. */
  readonly hasOwnKey: boolean;
}

const MAX_NAME = 256;
const KEY_PREFIX = 'retrace:';
const END_REASONS = ['terminated', 'truncated', 'abandoned'] as const;

/** @param pathEpisode the episode that the path names */
export function readCallHeaders(headers: IncomingHttpHeaders, pathEpisode: string | null): CallHeaders {
  const keyEpisode = findKey(headers);
  const groupSize = Number(readText(headers, 'group-size'));
  return {
    run: readText(headers, 'run'),
    episode: readText(headers, 'episode') ?? pathEpisode ?? keyEpisode,
    group: readText(headers, 'group'),
    groupSize: Number.isInteger(groupSize) && groupSize >= 1 ? groupSize : null,
    task: findTask(readText(headers, 'task')),
    tags: (readText(headers, 'tags') ?? '')
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
    ending: parseEnding(readText(headers, 'end')),
    hasOwnKey: keyEpisode !== null,
  };
}

/** The ending with this reason; null for any other text. An abandoned episode must say why. */
export function parseEnding(reason: string | null): EpisodeEnding | null {
  const endReason = END_REASONS.find((known) => known === reason);
  if (endReason === undefined) return null;
  return endReason === 'abandoned' ? { endReason, detail: 'the agent said so' } : { endReason };
}

/** A name as an answer's header carries it, which has no characters beyond ASCII. */
export function headerText(name: string): string {
  return /^[\x20-\x7e]*$/.test(name) ? name : encodeURIComponent(name);
}

function readText(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[`x-retrace-${name}`];
  const text = (Array.isArray(value) ? value.join(',') : (value ?? '')).trim();
  if (text === '') return null;
  return name === 'task' || name === 'tags' ? text : text.slice(0, MAX_NAME);
}

/** The episode of a key such as `retrace:customer-17`; null for other keys. */
function findKey({ authorization, 'x-api-key': apiKey }: IncomingHttpHeaders): string | null {
  const keys = [/^Bearer (.*)$/i.exec(authorization ?? '')?.[1], apiKey].flat();
  const key = keys.find((each) => each?.startsWith(KEY_PREFIX));
  const name = key?.slice(KEY_PREFIX.length).trim().slice(0, MAX_NAME) ?? '';
  return name === '' ? null : name;
}

/** Keys that an agent sends for its model server, as OpenAI, Anthropic, Azure and Google take them. */
export function agentKeys(headers: IncomingHttpHeaders): readonly string[] {
  const { authorization = '', 'x-api-key': own, 'api-key': azure, 'x-goog-api-key': google } = headers;
  const keys = [authorization.replace(/^\S+\s+/, ''), own, azure, google].flat();
  return keys.filter((key) => key !== undefined && key !== '') as string[];
}

function findTask(text: string | null): JsonValue | undefined {
  if (text === null) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}
