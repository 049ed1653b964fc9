import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JsonObject } from '@retrace/client';
import { errorBody, parsedObject, asNumber, asText, type ErrorBody } from '@retrace/chat';
import { readWholeBody } from '../../http/read-body.js';
import type { EpisodeEnding } from '../record/call-recorder.js';
import type { ProxyParts } from './proxy-parts.js';
import { parseEnding, headerText, readCallHeaders } from './request-headers.js';

const MAX_BODY_BYTES = 1024 ** 2;
const ACCEPTED = 202;
const INVALID = 400;
const NOT_FOUND = 404;
const UNAVAILABLE = 503;

/** `POST /e/<id>/end {reason?, success?, detail?}`. */
export async function endEpisode(
  { recorder, runs, config }: ProxyParts,
  request: IncomingMessage,
  client: ServerResponse,
  episode: string,
): Promise<void> {
  const body = await readJson(request);
  if (body === null) return refuse(client, 'body', 'must be a JSON object, or empty');
  const ending = parseEnding(asText(body.reason) ?? 'terminated');
  if (!ending) return refuse(client, 'reason', 'must be terminated, truncated or abandoned');
  const run = runs.idOf(readCallHeaders(request.headers, null).run ?? config.run);
  const detail = asText(body.detail);
  const told: EpisodeEnding = {
    ...ending,
    ...(detail !== null && { detail }),
    ...(typeof body.success === 'boolean' && { success: body.success }),
  };
  if (recorder.end(run, episode, told)) return answer(client, ACCEPTED, { episode });
  answer(
    client,
    NOT_FOUND,
    errorBody({ message: `No open episode "${episode}"`, type: 'not_found', code: null }),
  );
}

/** `POST /e/<id>/reward {name, value, step?, source?, rationale?}`. */
export async function rewardEpisode(
  { recorder, runs, config }: ProxyParts,
  request: IncomingMessage,
  client: ServerResponse,
  episode: string,
): Promise<void> {
  const body = await readJson(request);
  if (body === null) return refuse(client, 'body', 'must be a JSON object');
  const name = asText(body.name);
  if (name === null || name === '') return refuse(client, 'name', 'must be a text that is not empty');
  const value = asNumber(body.value);
  if (value === null && body.value !== null)
    return refuse(client, 'value', 'must be a number, or null to take it back');
  const step = asNumber(body.step);
  if (body.step !== undefined && body.step !== null && (step === null || !Number.isInteger(step) || step < 0))
    return refuse(client, 'step', 'must be a whole number of at least 0');
  const source = asText(body.source);
  const rationale = asText(body.rationale);
  const run = runs.idOf(readCallHeaders(request.headers, null).run ?? config.run);
  const rewarded = recorder.reward(run, episode, {
    name,
    value,
    ...(step !== null && { step }),
    ...(source !== null && { source }),
    ...(rationale !== null && { rationale }),
  });
  if (rewarded !== null) return answer(client, ACCEPTED, { episode: rewarded });
  const message = "The reward was not recorded: too much waits for the proxy's disk. Send it again later";
  answer(client, UNAVAILABLE, errorBody({ message, type: 'server_error', code: null }));
}

/** @returns {} for an empty body, null for anything but an object @throws RequestError 413 for a larger one */
async function readJson(request: IncomingMessage): Promise<JsonObject | null> {
  const bytes = await readWholeBody(request, MAX_BODY_BYTES);
  return bytes.length === 0 ? {} : parsedObject(bytes.toString());
}

function refuse(client: ServerResponse, param: string, rule: string): void {
  const message = `"${param}" ${rule}`;
  answer(client, INVALID, errorBody({ message, type: 'invalid_request_error', param, code: null }));
}

function answer(
  client: ServerResponse,
  status: number,
  body: { readonly episode: string } | ErrorBody,
): void {
  client.writeHead(status, {
    'content-type': 'application/json',
    ...('episode' in body && { 'x-retrace-episode': headerText(body.episode) }),
  });
  client.end(JSON.stringify(body));
}
