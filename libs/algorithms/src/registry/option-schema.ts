import { nearNames } from './near-names.js';

/** One option: its default, and what it accepts. */
export interface OptionSpec<T> {
  readonly fallback: T;
  /** Rule for a value, for messages: "a number in [0, 1]". */
  readonly rule: string;
  readonly accepts: (value: unknown) => boolean;
}

/** Options by name. The type of the resolved options follows from it: `OptionsOf<typeof schema>`. */
export type OptionSchema = Readonly<Record<string, OptionSpec<unknown>>>;

export type OptionsOf<S extends OptionSchema> = {
  readonly [K in keyof S]: S[K] extends OptionSpec<infer T> ? T : never;
};

/** A finite number. */
export function real(fallback: number): OptionSpec<number> {
  return { fallback, rule: 'a finite number', accepts: Number.isFinite };
}

/** A number in [0, 1]. */
export function fraction(fallback: number): OptionSpec<number> {
  return {
    fallback,
    rule: 'a number in [0, 1]',
    accepts: (value) => isNumber(value) && value >= 0 && value <= 1,
  };
}

/** A finite number > 0. */
export function positive(fallback: number): OptionSpec<number> {
  return { fallback, rule: 'a finite number > 0', accepts: (value) => isNumber(value) && value > 0 };
}

/** A number in (0, 1]. */
export function positiveFraction(fallback: number): OptionSpec<number> {
  return {
    fallback,
    rule: 'a number in (0, 1]',
    accepts: (value) => isNumber(value) && value > 0 && value <= 1,
  };
}

/** A finite number > `bound`. */
export function moreThan(bound: number, fallback: number): OptionSpec<number> {
  return {
    fallback,
    rule: `a finite number > ${bound}`,
    accepts: (value) => isNumber(value) && value > bound,
  };
}

/** A finite number ≥ 0. */
export function nonNegative(fallback: number): OptionSpec<number> {
  return { fallback, rule: 'a finite number ≥ 0', accepts: (value) => isNumber(value) && value >= 0 };
}

/** An integer ≥ `least`. */
export function wholeNumber(fallback: number, least = 0): OptionSpec<number> {
  return {
    fallback,
    rule: `an integer ≥ ${least}`,
    accepts: (value) => Number.isSafeInteger(value) && (value as number) >= least,
  };
}

export function flag(fallback: boolean): OptionSpec<boolean> {
  return { fallback, rule: 'true or false', accepts: (value) => typeof value === 'boolean' };
}

/** A text. */
export function text(fallback: string): OptionSpec<string> {
  return { fallback, rule: 'a text', accepts: (value) => typeof value === 'string' };
}

/** A list of texts. */
export function textList(fallback: readonly string[]): OptionSpec<readonly string[]> {
  return {
    fallback,
    rule: 'a list of texts',
    accepts: (value) => Array.isArray(value) && value.every((entry) => typeof entry === 'string'),
  };
}

/** One of some words; the first is the default. */
export function choice<const W extends readonly [string, ...string[]]>(...words: W): OptionSpec<W[number]> {
  return {
    fallback: words[0],
    rule: `one of ${words.join(', ')}`,
    accepts: (value) => words.includes(value as string),
  };
}

/** Null, or what `inner` accepts; null is the default unless `fallback` says otherwise. */
export function nullable<T>(inner: OptionSpec<T>, fallback: T | null = null): OptionSpec<T | null> {
  return {
    fallback,
    rule: `null or ${inner.rule}`,
    accepts: (value) => value === null || inner.accepts(value),
  };
}

/**
 * The first fault of the given options, or null: a name that the schema doesn't have (with the near ones), or
 * a value that breaks its rule. `undefined` stands for "not given".
 */
export function optionFault(schema: OptionSchema, given: Readonly<Record<string, unknown>>): string | null {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(schema, name)) {
      const known = Object.keys(schema);
      const near = nearNames(name, known);
      const list = known.length > 0 ? `its options are ${known.join(', ')}` : 'it has no options';
      return `no option is named '${name}'; ${near.length > 0 ? `did you mean ${near.join(', ')}?` : list}`;
    }
    const spec = schema[name];
    if (value !== undefined && !spec.accepts(value)) return `${name} is ${show(value)}, must be ${spec.rule}`;
  }
  return null;
}

/** The given options with the defaults for those not given. Check them with `optionFault` first. */
export function withDefaults<S extends OptionSchema>(
  schema: S,
  given: Readonly<Record<string, unknown>>,
): OptionsOf<S> {
  const entries = Object.entries(schema).map(([name, spec]) => [
    name,
    given[name] === undefined ? spec.fallback : given[name],
  ]);
  return Object.fromEntries(entries) as OptionsOf<S>;
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function show(value: unknown): string {
  return typeof value === 'number' ? String(value) : JSON.stringify(value);
}
