import { parsedObject } from '@retrace/trajectory';
type Fields = Readonly<Record<string, unknown>>;

/** Values of an action that is one field, where there are at most so many. */
const MAX_LISTED = 100;
/** Fields that every action of OpenEnv has, and that no agent fills in. */
const COMMON: readonly string[] = ['metadata'];

/** Reads actions from text by the JSON Schema that an OpenEnv server gives. */
export class ActionSchema {
  /** Name and schema of the only field that must be filled in; null where there is not exactly one. */
  private readonly only: readonly [string, Fields] | null;

  constructor(schema: unknown) {
    const { properties, required } = (schema ?? {}) as {
      readonly properties?: Fields;
      readonly required?: unknown;
    };
    const fields = Object.entries(properties ?? {}).filter(([name]) => !COMMON.includes(name));
    const needed = Array.isArray(required) ? fields.filter(([name]) => required.includes(name)) : [];
    const only = needed.length === 1 ? needed[0] : fields.length === 1 ? fields[0] : null;
    this.only = only === null ? null : [only[0], only[1] as Fields];
  }

  /**
   * Returns the action in a text: the object that it is in JSON, or the value of the only field; null where it is neither. An agent that
   * writes `Action:` before it is understood, too.
   */
  parse(text: string): Fields | null {
    const label = text.lastIndexOf('Action:');
    const body = (label === -1 ? text : text.slice(label + 'Action:'.length)).trim();
    const parsed = parsedObject(body);
    if (parsed !== null || this.only === null) return parsed;
    const [name, schema] = this.only;
    const value = parseValue(body, schema.type);
    return value === undefined ? null : { [name]: value };
  }

  /** Every action, where the only field has few values; null otherwise. */
  get all(): readonly string[] | null {
    if (this.only === null) return null;
    const [, { enum: values, type, minimum, maximum }] = this.only;
    if (Array.isArray(values)) return values.map(String);
    if (type === 'boolean') return ['true', 'false'];
    if (type !== 'integer' || typeof minimum !== 'number' || typeof maximum !== 'number') return null;
    const count = maximum - minimum + 1;
    return count > MAX_LISTED ? null : Array.from({ length: count }, (_, place) => `${minimum + place}`);
  }
}

function parseValue(text: string, type: unknown): unknown {
  switch (type) {
    case 'integer':
      return /^[+-]?\d+$/.test(text) ? Number(text) : undefined;
    case 'number':
      return text !== '' && Number.isFinite(Number(text)) ? Number(text) : undefined;
    case 'boolean':
      return text === 'true' || text === 'false' ? text === 'true' : undefined;
    default:
      return text;
  }
}
