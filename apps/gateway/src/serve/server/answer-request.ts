import type { ServerResponse } from 'node:http';
import { eventText, LogprobsWriter, STREAM_END, type AnswerForm } from '@retrace/chat';
import { onClientGone, writeTo } from '../../http/client-stream.js';
import { sendJson } from '../../http/send-answer.js';
import type { ServingEngine } from '../engine/serving-engine.js';
import { AnswerWriter } from '../protocol/answer-writer.js';
import { ChoiceReader, joinDeltas, type ChoiceDelta } from '../protocol/choice-reader.js';
import { answerRequests, type SamplingFields } from '../protocol/sampling-fields.js';
import type { RequestTools } from '../protocol/tools.js';
import type { ServeConfig } from '../serve-config.js';
import type { PolicySupply } from '../supply/policy-supply.js';
import { toRequestError } from './failed-answer.js';

/** A request that was read and is to be answered. */
export interface AskedAnswer {
  readonly form: AnswerForm;
  readonly prompts: readonly Int32Array[];
  readonly sampling: SamplingFields;
  readonly logprobs: number | null;
  /** Whether to report the logprobs of the prompts' own tokens; in whole answers only. */
  readonly scoresPrompts: boolean;
  readonly tools: RequestTools | null;
}

interface AnsweringParts {
  readonly engine: ServingEngine;
  readonly supply: PolicySupply;
  readonly config: ServeConfig;
  readonly contextLength: number;
}

/** Generates the answer to a request and sends it. @throws before anything is sent, what `toRequestError` tells clients */
export async function answerClient(
  parts: AnsweringParts,
  asked: AskedAnswer,
  client: ServerResponse,
): Promise<void> {
  const { engine, supply, contextLength } = parts;
  const { sampling, prompts, form } = asked;
  const numLikeliest = asked.logprobs ?? 0;
  const requests = prompts.flatMap((prompt) =>
    answerRequests(prompt, sampling, { supply, contextLength, numLikeliest }),
  );
  const gone = new AbortController();
  onClientGone(client, (reason) => {
    gone.abort(reason);
  });
  const { signal } = gone;
  const stream = engine.generate(requests, signal);
  const promptLogprobs = asked.scoresPrompts ? await engine.score(prompts, signal) : null;
  const { tokenizer } = supply.text;
  const readers = requests.map(() => new ChoiceReader(tokenizer, sampling, asked.tools));
  const writer = new AnswerWriter({
    form,
    supply,
    prompts,
    n: sampling.n,
    logprobs:
      asked.logprobs === null
        ? null
        : new LogprobsWriter({
            tokenizer,
            mode: parts.config.logprobsMode,
            namesTokensById: sampling.namesTokensById,
          }),
    returnsTokenIds: sampling.returnsTokenIds,
    promptLogprobs,
  });
  if (sampling.isStream) {
    await sendStream(client, {
      stream,
      readers,
      writer,
      supply,
      signal,
      streamsUsage: sampling.streamsUsage,
    });
    return;
  }
  const deltas: ChoiceDelta[][] = requests.map(() => []);
  let firstVersion: number | null = null;
  for await (const sampled of stream) {
    firstVersion ??= sampled.columns.policyVersions[0];
    deltas[sampled.answer].push(readers[sampled.answer].read(sampled));
  }
  setVersionHeaders(client, supply, firstVersion);
  sendJson(client, 200, writer.whole(deltas.map(joinDeltas)));
}

interface StreamParts {
  readonly stream: ReturnType<ServingEngine['generate']>;
  readonly readers: readonly ChoiceReader[];
  readonly writer: AnswerWriter;
  readonly supply: PolicySupply;
  readonly signal: AbortSignal;
  readonly streamsUsage: boolean;
}

async function sendStream(client: ServerResponse, parts: StreamParts): Promise<void> {
  const { stream, readers, writer, supply, signal, streamsUsage } = parts;
  const send = (data: string) => writeTo(client, eventText(data));
  try {
    for await (const sampled of stream) {
      const chunk = writer.chunk(sampled.answer, readers[sampled.answer].read(sampled));
      if (!client.headersSent) {
        setVersionHeaders(client, supply, sampled.columns.policyVersions[0]);
        client.writeHead(200, {
          'content-type': 'text/event-stream; charset=utf-8',
          'cache-control': 'no-cache',
        });
      }
      if (chunk) await send(JSON.stringify(chunk));
    }
    if (streamsUsage) await send(JSON.stringify(writer.usageChunk()));
    await send(STREAM_END);
  } catch (error) {
    if (!client.headersSent || signal.aborted) throw error;
    await send(JSON.stringify(toRequestError(error).body));
  }
  client.end();
}

/** Tells the version that sampled the first token. */
function setVersionHeaders(client: ServerResponse, supply: PolicySupply, version: number | null): void {
  if (supply.runId !== null) client.setHeader('x-retrace-run', supply.runId);
  if (supply.policyVersion !== null && version !== null)
    client.setHeader('x-retrace-policy-version', `${version}`);
}
