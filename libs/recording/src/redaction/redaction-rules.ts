import { readFile } from 'node:fs/promises';
import { Ajv } from 'ajv';
import { RE2JS } from 're2js';
import { RecordingError } from '../recording-error.js';
import { flag, listOf, objectSchema, type Schema, text, type ValueOf } from '../wire/schema.js';

/** A rule that is ready for use. */
export interface CompiledRule {
  readonly name: string;
  /** Null hides the whole of each field. */
  readonly pattern: RE2JS | null;
  /** Segments of each path; null for every text. */
  readonly fields: readonly (readonly string[])[] | null;
  readonly replacement: string;
}

export interface RedactionRules {
  readonly rules: readonly CompiledRule[];
  readonly keepsTokens: boolean;
}

/** Fields of records and runs whose content is the caller's own. All others say what a record is, and stay as they are. */
export const FREE_FIELDS: ReadonlySet<string> = new Set([
  ...['name', 'environment', 'agent', 'groupId', 'externalId', 'tags', 'metadata', 'task'],
  ...['observation', 'action', 'parsedAction', 'anchor', 'info', 'messages', 'rewards', 'untrainable'],
  ...['engine', 'model', 'detail', 'finalObservation', 'source', 'rationale'],
  ...['location', 'batch', 'notes', 'note', 'title', 'cells'],
]);

/** Fields that identify something: a hash in place of the hidden text keeps different values different. */
export const ID_FIELDS: ReadonlySet<string> = new Set(['groupId', 'externalId']);

/** Fields whose shape is fixed by an event: rules hide texts in them, except for the words that belong to the shape. */
export const SHAPED_FIELDS: ReadonlySet<string> = new Set(['cells']);
export const SHAPE_WORDS: ReadonlySet<string> = new Set(['kind', 'view']);

const RULE = objectSchema(
  {
    name: text('Names the rule', { pattern: '^[A-Za-z0-9_-]{1,64}$' }),
    pattern: text('In the syntax of RE2, which takes a time that is linear in the text', {
      minLength: 1,
      maxLength: 10_000,
    }),
    ignoreCase: flag('Whether the pattern takes capital letters as small ones'),
    fields: listOf(
      text('Such as `messages.input.*.content`', { minLength: 1, maxLength: 1000 }),
      'Paths, each with all below it; for a pattern the default is every text',
      { minItems: 1 },
    ),
    replacement: text('Default: `[redacted:<name>]`', { maxLength: 1000 }),
  },
  ['name'],
  'Hides what a regular expression finds, or all of what fields hold',
);

/** Without a type, so that what is no text is refused as another word is. */
const TOKENS: Schema<'drop' | 'keep'> = {
  enum: ['drop', 'keep'],
  description:
    'Whether token ids and logprobs of steps are stored: they can be decoded to the text that the rules hide. Default: `drop`',
};

const RULES_FILE = objectSchema(
  {
    rules: listOf(
      { ...RULE, anyOf: [{ required: ['pattern'] }, { required: ['fields'] }] },
      'Each with a name of its own',
      { maxItems: 1000 },
    ),
    tokens: TOKENS,
  },
  ['rules'],
);

type RedactionRule = ValueOf<typeof RULE>;

const check = new Ajv({ strict: false }).compile<ValueOf<typeof RULES_FILE>>(RULES_FILE);

/**
 * Reads the rules of a file.
 *
 * @throws RecordingError `REDACTION_RULES_INVALID` naming the file, the rule and what is wrong with it
 */
export async function readRedactionRules(file: string): Promise<RedactionRules> {
  try {
    return compileRedactionRules(JSON.parse(await readFile(file, 'utf8')));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new RecordingError('REDACTION_RULES_INVALID', `Redaction rules ${file}: ${reason}`, { cause });
  }
}

/** @throws RecordingError `REDACTION_RULES_INVALID` */
export function compileRedactionRules(content: unknown): RedactionRules {
  if (!check(content)) {
    const [{ instancePath = '', message = 'must be valid' } = {}] = check.errors ?? [];
    throw invalidRules(`${instancePath === '' ? 'it' : instancePath} ${message}`);
  }
  const names = content.rules.map(({ name }) => name);
  const repeated = names.find((name, i) => names.indexOf(name) !== i);
  if (repeated !== undefined) throw invalidRules(`two rules have the name "${repeated}"`);
  return { rules: content.rules.map(compileRule), keepsTokens: content.tokens === 'keep' };
}

function compileRule(rule: RedactionRule): CompiledRule {
  const { name, fields, replacement = `[redacted:${name}]` } = rule;
  const paths = fields?.map((path) => path.split('.')) ?? null;
  const unknown = paths?.find(([root]) => !FREE_FIELDS.has(root));
  if (unknown !== undefined) {
    const known = [...FREE_FIELDS].join(', ');
    throw invalidRules(`rule "${name}": path "${unknown.join('.')}" must start with one of ${known}`);
  }
  return { name, pattern: compilePattern(rule), fields: paths, replacement };
}

function compilePattern({ name, pattern, ignoreCase }: RedactionRule): RE2JS | null {
  if (pattern === undefined) return null;
  let compiled: RE2JS;
  try {
    compiled = RE2JS.compile(pattern, ignoreCase === true ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    throw invalidRules(`rule "${name}": ${error instanceof Error ? error.message : String(error)}`);
  }
  if (compiled.matcher('').find()) throw invalidRules(`rule "${name}": its pattern matches the empty text`);
  return compiled;
}

function invalidRules(message: string): RecordingError {
  return new RecordingError('REDACTION_RULES_INVALID', message);
}
