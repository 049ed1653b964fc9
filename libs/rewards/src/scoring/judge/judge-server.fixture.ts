import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

export interface JudgeReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The judge's message; default: a good verdict of 0.5. */
  readonly content?: string;
  readonly refusal?: string;
  readonly finishReason?: string;
  readonly delayMs?: number;
  /** Instead of a chat completion. */
  readonly body?: string;
}

export interface JudgeServer {
  readonly endpoint: string;
  /** Bodies of the requests that came. */
  readonly requests: readonly {
    readonly model: string;
    readonly messages: readonly { readonly content: string }[];
  }[];
  readonly headers: readonly IncomingMessage['headers'][];
  /** Most requests that were answered at one time. */
  readonly maxAtOnce: () => number;
  close(): Promise<void>;
}

/** A server on loopback that speaks the chat completions protocol; `reply` says how it behaves for the n-th request. */
export async function startJudgeServer(
  reply: (n: number, question: string) => JudgeReply | Promise<JudgeReply> = () => ({}),
): Promise<JudgeServer> {
  const requests: { model: string; messages: { content: string }[] }[] = [];
  const headers: IncomingMessage['headers'][] = [];
  let atOnce = 0;
  let maxAtOnce = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.method !== 'POST' || request.url !== '/v1/chat/completions') {
      response.writeHead(404).end();
      return;
    }
    const body = JSON.parse(await text(request)) as (typeof requests)[number];
    requests.push(body);
    headers.push(request.headers);
    maxAtOnce = Math.max(maxAtOnce, ++atOnce);
    const {
      status = 200,
      headers: extra,
      delayMs = 0,
      body: raw,
      ...message
    } = await reply(requests.length - 1, body.messages[1].content);
    if (delayMs > 0) await sleep(delayMs);
    atOnce--;
    response.writeHead(status, { 'content-type': 'application/json', ...extra });
    response.end(raw ?? JSON.stringify(completion(body.model, message)));
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}/v1`,
    requests,
    headers,
    maxAtOnce: () => maxAtOnce,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

function completion(model: string, { content, refusal, finishReason = 'stop' }: JudgeReply): object {
  const message = {
    role: 'assistant',
    content: content ?? '{"rationale":"as asked","score":0.5}',
    refusal: null,
  };
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [
      {
        index: 0,
        finish_reason: finishReason,
        message: refusal === undefined ? message : { ...message, content: null, refusal },
      },
    ],
    usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
  };
}
