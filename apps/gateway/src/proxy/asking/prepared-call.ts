import type { ModelServerKind, OpenCall, Protocol, SamplingDefaults, SseEvent } from '@retrace/chat';
import type { JsonObject } from '@retrace/client';
import { EventHider } from './event-hider.js';
import { hideEventTokens, hideTokens, responseTokenFields } from './response-token-fields.js';
import { bothAdded, tokenFields, usageFields, withoutAdded, type HiddenFields } from './token-fields.js';

/** A call that asks for more than the client did where the upstream can give it, and hides that from the client. */
export interface PreparedCall extends OpenCall {
  /** Body for the upstream: the client's, plus what was asked for in addition. The same object when nothing was added. */
  readonly body: JsonObject;
  readonly isStream: boolean;
  /** Whether something was added that the client must not see. If not, bytes pass untouched. */
  readonly hides: boolean;
  /** The answer as the client asked for it. */
  hide(answer: JsonObject): JsonObject;
  /**
   * The events to pass on after this one, as the client asked for them: the same object when nothing is hidden in it, none when all of it is or it waits for
   * the next one. null: the end of the stream.
   */
  hideEvent(event: SseEvent | null): readonly SseEvent[];
}

interface Asked {
  readonly body: JsonObject;
  readonly upstream: ModelServerKind;
  readonly defaults: SamplingDefaults;
}

/** Opens a call, and asks the upstream for tokens and usage in addition. */
export function prepareCall(protocol: Protocol, { body, upstream, defaults }: Asked): PreparedCall {
  const call = protocol.open(body, defaults);
  const { added, hide, hideEvent } = ADDITIONS[protocol.name](body, upstream);
  const hides = Object.keys(added).length > 0;
  return {
    prompt: call.prompt,
    read: (answer) => call.read(answer),
    reader: () => call.reader(),
    body: hides ? { ...body, ...added } : body,
    isStream: body.stream === true,
    hides,
    hide: (answer) => (hides ? hide(answer) : answer),
    hideEvent,
  };
}

/** Fields to ask for in addition, and how they are hidden. */
interface Addition {
  readonly added: JsonObject;
  readonly hide: (answer: JsonObject) => JsonObject;
  readonly hideEvent: PreparedCall['hideEvent'];
}

const ADDITIONS: Readonly<
  Record<Protocol['name'], (body: JsonObject, upstream: ModelServerKind) => Addition>
> = {
  'chat-completions': (body, upstream) =>
    choicesAddition(bothAdded(tokenFields(body, upstream, 'chat-completions'), usageFields(body, upstream))),
  completions: (body, upstream) => {
    const usage = usageFields(body, upstream);
    return choicesAddition(
      body.echo === true ? usage : bothAdded(tokenFields(body, upstream, 'completions'), usage),
    );
  },
  responses: responseAddition,
  messages: () => choicesAddition({ fields: {}, hidden: [] }),
};

function choicesAddition(added: HiddenFields): Addition {
  const hider = new EventHider(added);
  return {
    added: added.fields,
    hide: (answer) => withoutAdded(answer, added),
    hideEvent: (event) => hider.hide(event),
  };
}

function responseAddition(body: JsonObject, upstream: ModelServerKind): Addition {
  const added = responseTokenFields(body, upstream);
  return {
    added,
    hide: (answer) => hideTokens(answer, body, added),
    hideEvent: (event) => (event === null ? [] : [hideEventTokens(event, body, added)]),
  };
}
