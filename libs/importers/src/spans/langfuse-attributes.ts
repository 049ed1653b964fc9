import { asObject } from '@retrace/chat';
import { type Fields, looseJson, looseText } from '../fields.js';
import type { WireMessage } from '@retrace/recording';
import { looseMessages } from './loose-messages.js';
import { readToolDefinitions } from './offered-tools.js';
import type { Attributes } from './otel-span.js';
import type { ModelCall, TraceNode } from './trace-node.js';

/** Attributes of the spans that Langfuse's SDKs write since version 3: `langfuse.observation.*`. */

const KINDS: Readonly<Record<string, TraceNode['kind']>> = {
  generation: 'call',
  agent: 'agent',
  tool: 'tool',
};

export function langfuseKind(attributes: Attributes): TraceNode['kind'] | undefined {
  const type = looseText(attributes['langfuse.observation.type']);
  return type === undefined ? undefined : (KINDS[type.toLowerCase()] ?? 'other');
}

export function langfuseMessages(attributes: Attributes): Pick<ModelCall, 'input' | 'output'> {
  const [output = null] = readMessages(attributes, 'output', 'assistant').slice(-1);
  return { input: readMessages(attributes, 'input', 'user'), output };
}

export function langfuseTools(attributes: Attributes): ModelCall['tools'] {
  return readToolDefinitions(asObject(looseJson(attributes['langfuse.observation.input'])).tools);
}

export const langfuseResult = (attributes: Attributes): unknown =>
  langfuseKind(attributes) === 'tool' ? attributes['langfuse.observation.output'] : undefined;

/** A JSON object of an observation: `usage_details`, `cost_details`, `model.parameters`. */
export function langfuseObject(attributes: Attributes, name: string): Fields {
  return asObject(looseJson(attributes[`langfuse.observation.${name}`]));
}

/** Words of the failure of an observation; undefined where it went well. */
export function langfuseFailure(attributes: Attributes): string | undefined {
  if (looseText(attributes['langfuse.observation.level'])?.toUpperCase() !== 'ERROR') return undefined;
  return (
    looseText(attributes['langfuse.observation.status_message']) ?? 'the observation ended with an error'
  );
}

function readMessages(
  attributes: Attributes,
  name: 'input' | 'output',
  role: string,
): readonly WireMessage[] {
  return looseMessages(looseJson(attributes[`langfuse.observation.${name}`]), role);
}
