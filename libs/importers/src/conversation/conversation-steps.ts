import { asObjects, type ChatMessage, chatMessage, isJsonObject } from '@retrace/chat';
import type { Json } from '@retrace/trajectory';
import { known } from '../fields.js';
import { RowFault } from '../skip.js';
import type { WireEnd, WireMessage, WireRecord, WireStep } from '@retrace/recording';

/** A message of a conversation, and whether the agent said it in answer to what came before. */
export interface SpokenTurn {
  readonly message: WireMessage;
  /** A message in the assistant's role that the dump itself put there, such as a fixed greeting, is no step. */
  readonly isAgents: boolean;
  /** Whether it belongs to the agent's turn before it, if nothing is between them: data sets have each call of a turn for itself. */
  readonly isCall?: boolean;
  /** Fields of the step that this turn of the agent becomes; of another turn, what came of the step before it. */
  readonly step?: Pick<WireStep, 'observation' | 'action' | 'reward' | 'info'>;
}

/** Knowledge of a dump about the end of a conversation. */
export interface ConversationEnd {
  readonly endReason?: WireEnd['endReason'];
  readonly detail?: string;
  readonly success?: boolean;
}

/** Said of episodes whose dump does not tell how they ended. */
export const END_UNKNOWN: ConversationEnd = {
  endReason: 'truncated',
  detail: 'the imported data does not say how the episode ended',
};

/**
 * Turns a conversation into steps: each message of the agent is one, and what was said since its last message is its input. The
 * observation is the last input message; messages after the last step are the final observation.
 *
 * @throws RowFault `NO_AGENT_TURN`
 */
export function conversationRecords(
  episode: string,
  turns: readonly SpokenTurn[],
  end: ConversationEnd,
): WireRecord[] {
  const records: WireRecord[] = [];
  let input: WireMessage[] = [];
  for (const { message, isAgents, isCall, step } of turns) {
    if (!isAgents) {
      input.push(message);
      const before = records.at(-1);
      if (before?.type === 'step' && step !== undefined)
        records[records.length - 1] = withOutcome(before, step);
      continue;
    }
    const before = records.at(-1);
    if (isCall && input.length === 0 && before?.type === 'step') {
      records[records.length - 1] = withCalls(before, message, step);
      continue;
    }
    const last = input.at(-1);
    records.push({
      type: 'step',
      episode,
      step: records.length,
      observation: last === undefined ? '' : messageText(last),
      action: messageText(message),
      ...step,
      messages: { input, output: message },
    });
    input = [];
  }
  if (records.length === 0) throw new RowFault('NO_AGENT_TURN', 'the agent says nothing in it');
  const rest = input.at(-1);
  records.push({
    type: 'end',
    episode,
    ...end,
    ...(rest === undefined ? {} : { finalObservation: messageText(rest) }),
    numSteps: records.length,
  });
  return records;
}

/** A step whose answer has one more message: of the same turn, with calls beside its own. */
function withCalls(step: WireStep, message: WireMessage, more: SpokenTurn['step'] = {}): WireStep {
  const before = step.messages?.output ?? { role: 'assistant', content: null };
  const calls = [...(before.tool_calls ?? []), ...(message.tool_calls ?? [])];
  const texts = [before.content, message.content].filter((text) => typeof text === 'string' && text !== '');
  const output = newMessage({
    ...before,
    content: texts.length === 0 ? null : texts.length === 1 ? texts[0] : texts.join('\n'),
    tool_calls: calls,
  });
  const merged = {
    ...step,
    action: messageText(output),
    messages: { input: step.messages?.input ?? [], output },
  };
  return withOutcome(merged, more);
}

/** A step with what came of it; what it has already, it keeps. */
function withOutcome(step: WireStep, { reward, info }: NonNullable<SpokenTurn['step']>): WireStep {
  return known({ ...step, reward: step.reward ?? reward, info: mergedInfo(step.info, info) });
}

function mergedInfo(own: Json | undefined, given: Json | undefined): Json | undefined {
  if (given === undefined || given === null) return own;
  if (own === undefined || own === null) return given;
  return isJsonObject(own) && isJsonObject(given) ? { ...given, ...own } : own;
}

/** The text of a message: its content, the texts of its parts by lines, or its calls of tools where it has no text. */
export function messageText({ content, tool_calls: calls = [] }: WireMessage): string {
  const parts = typeof content === 'string' ? [content] : asObjects(content).map(({ text }) => text);
  const text = parts.filter((part) => typeof part === 'string' && part !== '').join('\n');
  if (text !== '') return text;
  return calls.map(({ function: { name, arguments: given } }) => `${name}(${given})`).join('\n');
}

/** A message as the proxy and the clients store it: without fields that are undefined or empty. */
export function newMessage(message: {
  [K in keyof WireMessage]: WireMessage[K] | undefined;
}): WireMessage {
  return chatMessage(message as ChatMessage) as WireMessage;
}
