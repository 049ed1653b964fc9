import type { JsonObject } from '@retrace/client';
import { isJsonObject } from '@retrace/trajectory/json';

/**
 * Reads the definition of a tool, of OpenAI's chat or Responses API, of Anthropic, or a bare function, in the shape of chat completions:
 * `{type: 'function', function: {name, description, parameters}}`. null: it is none, or a tool that a provider runs itself.
 */
export function completionTool(tool: unknown): JsonObject | null {
  if (!isJsonObject(tool)) return null;
  if (isJsonObject(tool.function)) return { ...tool, type: 'function' };
  const { name, description, input_schema: schema, parameters = schema, type: _, ...others } = tool;
  if (typeof name !== 'string' || !(isJsonObject(parameters) || tool.type === 'function')) return null;
  const { input_schema: __, parameters: ___, ...rest } = others;
  const described = {
    name,
    ...(description != null && { description }),
    ...(isJsonObject(parameters) && { parameters }),
  };
  return { type: 'function', function: { ...described, ...rest } };
}

interface NamedTool {
  readonly name: string;
  readonly description?: string;
  /** A JSON schema of the arguments. */
  readonly parameters: object;
}

/** Writes a tool as requests of Anthropic's messages have it. */
export function messageTool({ parameters, ...tool }: NamedTool) {
  return { ...tool, input_schema: parameters };
}
