import type { JsonObject } from '@retrace/client';
import { createParser } from 'eventsource-parser';
import { knownDefaults, type ModelServerKind } from '../servers/model-servers.js';
import type { Protocol, RecordedCall } from './protocol.js';

/**
 * A `fetch` for SDKs that reads each call: the request before it is sent, the answer beside the SDK.
 *
 * @returns the function, and the calls that it recorded, in the order in which their answers ended
 */
export function recordingFetch(protocol: Protocol, server: ModelServerKind = 'openai') {
  const calls: RecordedCall[] = [];
  const record = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const body = JSON.parse(init?.body as string) as JsonObject;
    const call = protocol.open(body, knownDefaults(server));
    const response = await fetch(url, init);
    if (body.stream !== true || !response.ok || response.body === null) {
      const answer = (await response.clone().json()) as JsonObject;
      calls.push(call.read({ status: response.status, body: answer }));
      return response;
    }
    const reader = call.reader();
    const parser = createParser({
      onEvent: ({ event, data }) => {
        reader.add({ event: event ?? null, data });
      },
    });
    const passed = readBeside(response.body, {
      onText: (text) => {
        parser.feed(text);
      },
      onEnd: (isComplete) => calls.push(reader.finish(isComplete)),
    });
    return new Response(passed, response);
  };
  return { fetch: record, calls };
}

interface Listener {
  onText(text: string): void;
  onEnd(isComplete: boolean): void;
}

/** The same body, each piece told first; it breaks where the body breaks. */
function readBeside(
  body: ReadableStream<Uint8Array>,
  { onText, onEnd }: Listener,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    try {
      const { done, value } = await reader.read();
      if (!done) {
        onText(decoder.decode(value, { stream: true }));
        controller.enqueue(value);
        return;
      }
      onEnd(true);
      controller.close();
    } catch (error) {
      onEnd(false);
      controller.error(error);
    }
  };
  return new ReadableStream({ pull }, { highWaterMark: 0 });
}
