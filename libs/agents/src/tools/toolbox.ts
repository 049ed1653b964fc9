import { createRequire } from 'node:module';
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv';
import { isJsonObject, parsedObject } from '@retrace/trajectory/json';
import type { ToolCall, ToolSchema } from '../action-format.js';
import { AgentFormatError } from '../errors.js';
import { ActionTemplate } from './action-template.js';

/** The tool of agents whose environment takes actions as text. */
export const ACT: ToolSchema = {
  name: 'act',
  description: 'Does one action in the environment.',
  parameters: {
    type: 'object',
    properties: { action: { type: 'string', description: 'The action, as the environment takes it.' } },
    required: ['action'],
    additionalProperties: false,
  },
  action: '{action}',
};

interface Tool {
  readonly schema: ToolSchema;
  readonly template: ActionTemplate | null;
  readonly validate: ValidateFunction;
}

/** A call with the environment's action for it, or a sentence that tells the agent why there is none. */
export type ResolvedCall =
  | { readonly call: ToolCall; readonly action: string }
  | { readonly problem: string };

/** The tools of a run: checks calls against their schemas, and makes them the environment's actions. */
export class Toolbox {
  private readonly tools: ReadonlyMap<string, Tool>;

  /**
   * @param options.coerce whether "3" counts as 3 where a schema wants a number, as lenient formats have it
   * @throws AgentFormatError `INVALID_OPTION` for two tools of one name, a schema that is none, or a template with an argument
   * that the schema does not have
   */
  constructor(schemas: readonly ToolSchema[], { coerce }: { readonly coerce: boolean }) {
    const ajv = newAjv(coerce);
    this.tools = new Map(schemas.map((schema, at) => [schema.name, makeTool(schema, `tools[${at}]`, ajv)]));
    if (schemas.length === 0) throw invalid('tools: got [], must have at least one tool');
    if (this.tools.size < schemas.length) throw invalid('tools: two of them have the same name');
  }

  /** The tools as OpenAI and the chat templates of models write them, one JSON object a line. */
  describe(): string {
    return [...this.tools.values()]
      .map(({ schema: { name, description = '', parameters } }) =>
        JSON.stringify({ type: 'function', function: { name, description, parameters } }),
      )
      .join('\n');
  }

  resolve(name: string, values: Readonly<Record<string, unknown>>): ResolvedCall {
    const tool = this.tools.get(name);
    if (tool === undefined) {
      return {
        problem: `There is no tool "${name.slice(0, 100)}"; there are ${[...this.tools.keys()].join(', ')}.`,
      };
    }
    const coerced = structuredClone(values);
    if (!tool.validate(coerced)) return { problem: argumentProblem(name, tool.validate.errors?.[0]) };
    const call: ToolCall = { name, arguments: coerced };
    if (tool.template === null) return { call, action: JSON.stringify(call) };
    const action = tool.template.render(coerced);
    return action === null
      ? { problem: `The tool "${name}" needs ${tool.template.names.join(', ')}.` }
      : { call, action };
  }

  /** A call that makes an action; null when no tool has one. */
  callOf(action: string): ToolCall | null {
    for (const { schema, template } of this.tools.values()) {
      const values = template === null ? readArguments(action, schema.name) : template.match(action);
      const resolved = values && this.resolve(schema.name, values);
      if (resolved && 'call' in resolved && resolved.action === action) return resolved.call;
    }
    return null;
  }
}

function makeTool(schema: ToolSchema, field: string, ajv: Ajv): Tool {
  if (typeof schema.name !== 'string' || schema.name === '') throw invalid(`${field}.name: must be a text`);
  if (schema.parameters?.type !== 'object') {
    throw invalid(
      `${field}.parameters.type: got ${JSON.stringify(schema.parameters?.type)}, must be "object"`,
    );
  }
  let validate: ValidateFunction;
  try {
    validate = ajv.compile(schema.parameters);
  } catch (error) {
    throw invalid(`${field}.parameters: ${(error as Error).message}`);
  }
  const template = schema.action === undefined ? null : new ActionTemplate(schema.action);
  const properties = (schema.parameters.properties ?? {}) as object;
  const unknown = template?.names.find((name) => !Object.hasOwn(properties, name));
  if (unknown !== undefined)
    throw invalid(`${field}.action: has {${unknown}}, which is no argument of the tool`);
  return { schema, template, validate };
}

/** Loads ajv only where tools are used: environments import this library, too. */
function newAjv(coerce: boolean): Ajv {
  const { Ajv: AjvClass } = createRequire(import.meta.url)('ajv') as typeof import('ajv');
  return new AjvClass({ strict: false, coerceTypes: coerce, allErrors: false, logger: false });
}

function readArguments(action: string, name: string): Readonly<Record<string, unknown>> | null {
  const call = parsedObject(action);
  return call?.name === name && isJsonObject(call.arguments) ? call.arguments : null;
}

function argumentProblem(name: string, error: ErrorObject | undefined): string {
  const where = error?.instancePath.slice(1).replaceAll('/', '.') ?? '';
  return `The arguments of "${name}" are wrong: ${where === '' ? '' : `"${where}" `}${error?.message ?? 'invalid'}.`;
}

function invalid(message: string): AgentFormatError {
  return new AgentFormatError('INVALID_OPTION', message);
}
