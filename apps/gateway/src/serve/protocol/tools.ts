import { actionFormat, type ActionFormat } from '@retrace/agents';
import { RequestError } from '../../http/request-error.js';
import { RequestFields, type JsonFields } from './request-fields.js';

/** Tools of a request that the model may call. */
export interface RequestTools {
  /** As chat templates read them. */
  readonly definitions: readonly JsonFields[];
  readonly format: ActionFormat;
}

const MAX_CALLS = 128;

/** Reads the tools of a chat; null when there are none to call. @throws RequestError */
export function readTools(fields: RequestFields): RequestTools | null {
  const definitions = fields.objects('tools') ?? [];
  const choice = fields.any('tool_choice') ?? 'auto';
  fields.only('parallel_tool_calls', true);
  fields.only('functions');
  fields.only('function_call');
  if (choice !== 'auto' && choice !== 'none') {
    throw new RequestError(
      `"tool_choice" is ${JSON.stringify(choice)}; this server supports only "auto" or "none", as it does not force what a model writes`,
      { param: 'tool_choice', code: 'unsupported_parameter' },
    );
  }
  const tools = definitions.map(readTool);
  if (tools.length === 0 || choice === 'none') return null;
  try {
    return { definitions, format: actionFormat('tool-call', { strict: true, maxActions: MAX_CALLS, tools }) };
  } catch (error) {
    throw new RequestError((error as Error).message, { param: 'tools', code: 'invalid_value' });
  }
}

function readTool(definition: JsonFields, n: number) {
  const path = `tools[${n}].`;
  const fields = new RequestFields(definition, { path });
  fields.only('type', 'function');
  const called = new RequestFields(fields.required('function', fields.object('function')), {
    path: `${path}function.`,
  });
  const name = called.required('name', called.text('name'));
  const description = called.text('description') ?? '';
  const parameters = withoutDialect(called.object('parameters') ?? {});
  // What "strict" promises holds anyway: a call that breaks its schema is returned as words.
  called.boolean('strict');
  return { name, description, parameters };
}

/** A schema without the name of its dialect, which decides nothing that tools use. */
function withoutDialect({ $schema: _, ...schema }: JsonFields): JsonFields {
  return { type: 'object', properties: {}, ...schema };
}
