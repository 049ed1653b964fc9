import { hash } from 'node:crypto';
import { isUuid } from '@retrace/trajectory';
import {
  FREE_FIELDS,
  ID_FIELDS,
  SHAPE_WORDS,
  SHAPED_FIELDS,
  type CompiledRule,
  type RedactionRules,
} from './redaction-rules.js';

type Fields = Readonly<Record<string, unknown>>;

/** Called for each text that a rule has hidden. */
export type RedactionListener = (rule: string) => void;

/**
 * Returns a record, or the request that starts or ends a run, with everything hidden that the rules name. Pure: the same rules hide the
 * same, so a record that is sent again is still the same record.
 *
 * Texts are searched wherever they are in the fields that hold the caller's own content, names in objects included. The name of an
 * episode stays, as only its hash is stored, but it is hidden in the external id. Unless the rules keep them, tokens are left out, as
 * they can be decoded to the text.
 */
export function redact<T extends object>(value: T, rules: RedactionRules, onRedacted: RedactionListener): T {
  const fields = value as Fields;
  const redacted: Record<string, unknown> = { ...fields };
  for (const [name, content] of Object.entries(withName(fields))) {
    if (FREE_FIELDS.has(name)) redacted[name] = redactRoot(name, content, rules.rules, onRedacted);
  }
  if (!rules.keepsTokens) {
    delete redacted.tokens;
    delete redacted.finalTokens;
    if ('tokens' in fields) delete redacted.logprobMode;
  }
  return redacted as T;
}

/** An episode's name is stored as its external id, where that is not given. */
function withName(fields: Fields): Fields {
  return isNamedByText(fields) && !('externalId' in fields)
    ? { ...fields, externalId: fields.episode }
    : fields;
}

function isNamedByText({ type, episode }: Fields): boolean {
  return type === 'episode' && typeof episode === 'string' && !isUuid(episode);
}

/** Applies the rules one after the other, so that a later one sees what an earlier one has left. */
function redactRoot(
  root: string,
  content: unknown,
  rules: readonly CompiledRule[],
  onRedacted: RedactionListener,
): unknown {
  return rules.reduce((value, rule) => new RuleOnField(rule, onRedacted).apply(value, [root]), content);
}

class RuleOnField {
  constructor(
    private readonly rule: CompiledRule,
    private readonly onRedacted: RedactionListener,
  ) {}

  apply(value: unknown, path: readonly string[]): unknown {
    const { fields, pattern } = this.rule;
    const isCovered = fields === null || fields.some((field) => covers(field, path));
    const keepsShape = SHAPED_FIELDS.has(path[0]) && typeof value === 'object';
    if (isCovered && pattern === null && !keepsShape) return this.hideWhole(value, path);
    if (typeof value === 'string') return isCovered ? this.hideMatches(value, path) : value;
    if (Array.isArray(value)) return value.map((element, i) => this.apply(element, [...path, `${i}`]));
    if (typeof value !== 'object' || value === null) return value;
    if (!isCovered && !fields?.some((field) => leadsTo(field, path))) return value;
    return this.applyToObject(value as Fields, path, isCovered);
  }

  /** Names are texts, too. Two that become the same are told apart by a number. */
  private applyToObject(object: Fields, path: readonly string[], isCovered: boolean): Fields {
    if (SHAPED_FIELDS.has(path[0])) return this.applyToShape(object, path);
    const redacted: [string, unknown][] = [];
    const taken = new Set<string>();
    for (const [name, value] of Object.entries(object)) {
      const shown = isCovered ? this.hideMatches(name, path) : name;
      let free = shown;
      for (let n = 2; taken.has(free); n++) free = `${shown} ${n}`;
      taken.add(free);
      redacted.push([free, this.apply(value, [...path, name])]);
    }
    return Object.fromEntries(redacted);
  }

  private applyToShape(object: Fields, path: readonly string[]): Fields {
    const redacted = Object.entries(object).map(([name, value]) => [
      name,
      SHAPE_WORDS.has(name) ? value : this.apply(value, [...path, name]),
    ]);
    return Object.fromEntries(redacted) as Fields;
  }

  private hideWhole(value: unknown, path: readonly string[]): unknown {
    if (value === null || value === undefined) return value;
    this.onRedacted(this.rule.name);
    return typeof value === 'string' ? this.replacementOf(value, path) : null;
  }

  private hideMatches(text: string, path: readonly string[]): string {
    const { name, pattern } = this.rule;
    const matcher = pattern?.matcher(text);
    if (!matcher?.find()) return text;
    let hidden = '';
    let from = 0;
    do {
      const [start, end] = [matcher.start(), matcher.end()];
      hidden += text.slice(from, start) + this.replacementOf(text.slice(start, end), path);
      from = end;
      this.onRedacted(name);
    } while (matcher.find());
    return hidden + text.slice(from);
  }

  private replacementOf(text: string, [root]: readonly string[]): string {
    const { replacement } = this.rule;
    return ID_FIELDS.has(root) ? `${replacement}${hash('sha256', text).slice(0, 12)}` : replacement;
  }
}

/** Whether a path is the field or below it. */
function covers(field: readonly string[], path: readonly string[]): boolean {
  return field.length <= path.length && matches(field, path.slice(0, field.length));
}

/** Whether the field is below a path. */
function leadsTo(field: readonly string[], path: readonly string[]): boolean {
  return field.length > path.length && matches(field.slice(0, path.length), path);
}

function matches(field: readonly string[], path: readonly string[]): boolean {
  return field.every((segment, i) => segment === '*' || segment === path[i]);
}
