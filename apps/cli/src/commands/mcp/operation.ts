import { CliError } from '../../cli-error.js';

type Schema = Readonly<Record<string, unknown>>;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface DocumentedOperation {
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } };
}

/** The parts of an OpenAPI document that tools are made of. */
export interface ApiDocument {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Arguments of a tool, by name. */
export type Arguments = Readonly<Record<string, unknown>>;

/** A request to the API. */
export interface ApiRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** Undefined without one. */
  readonly body?: Arguments;
}

/** An operation of the API as one flat list of arguments: those of its path, its query and its body. */
export interface Operation {
  readonly description: string;
  /** JSON Schema of an object. */
  readonly inputSchema: Schema;
  readonly requestOf: (given: Arguments) => ApiRequest;
}

/**
 * Reads an operation from the document of an API.
 *
 * @param name method and path: `GET /api/runs/{runId}`
 * @throws CliError `SERVER_INCOMPATIBLE` where the server has no such operation
 */
export function readOperation(document: ApiDocument, name: string): Operation {
  const [method, path] = name.split(' ');
  const operation = document.paths[path]?.[method.toLowerCase()];
  if (operation === undefined) {
    const what = `the server of version ${document.info.version} has no ${name}`;
    throw new CliError('SERVER_INCOMPATIBLE', `${what}; use the retrace command of its version`);
  }
  const parameters = (operation.parameters ?? []).filter((one) => one.in === 'path' || one.in === 'query');
  const body = findBody(document, operation);
  return {
    description: [operation.summary, operation.description].filter(Boolean).join('. '),
    inputSchema: {
      type: 'object',
      properties: { ...Object.fromEntries(parameters.map(toProperty)), ...body?.properties },
      required: [
        ...parameters.filter((one) => one.required === true).map((one) => one.name),
        ...(body?.required ?? []),
      ],
      additionalProperties: false,
    },
    requestOf: (given) => ({
      method,
      path: makeAddress(path, parameters, given),
      ...(body && { body: pick(given, Object.keys(body.properties)) }),
    }),
  };
}

interface Body {
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

function findBody(document: ApiDocument, { requestBody }: DocumentedOperation): Body | null {
  const schema = requestBody?.content['application/json'].schema;
  if (schema === undefined) return null;
  const name = typeof schema.$ref === 'string' ? schema.$ref.split('/').at(-1) : undefined;
  return (name === undefined ? schema : document.components.schemas[name]) as unknown as Body;
}

/** In a path a number is a text, which agents need not know. */
function toProperty({ name, in: place, description, schema }: Parameter): [string, Schema] {
  const type = place === 'path' ? { type: ['string', 'integer'] } : {};
  return [name, { ...schema, ...type, ...(description !== undefined && { description }) }];
}

function makeAddress(path: string, parameters: readonly Parameter[], given: Arguments): string {
  const query = new URLSearchParams();
  let address = path;
  for (const { name, in: place } of parameters) {
    const value = given[name];
    if (value === undefined) continue;
    if (place === 'path') address = address.replace(`{${name}}`, encodeURIComponent(String(value)));
    else query.set(name, String(value));
  }
  return query.size === 0 ? address : `${address}?${query.toString()}`;
}

function pick(given: Arguments, names: readonly string[]): Arguments {
  return Object.fromEntries(Object.entries(given).filter(([name]) => names.includes(name)));
}
