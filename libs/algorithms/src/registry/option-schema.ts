import { nearNames } from './near-names.js';

/** One option. */
export interface OptionSpec<T> {
  readonly fallback: T;
  /** The values that are allowed, for messages: "a number in [0, 1]". */
  readonly rule: string;
  readonly accepts: (value: unknown) => boolean;
}

/** Options by name. The type of the resolved options follows from it: `OptionsOf<typeof schema>`. */
export type OptionSchema = Readonly<Record<string, OptionSpec<unknown>>>;

export type OptionsOf<S extends OptionSchema> = {
  readonly [K in keyof S]: S[K] extends OptionSpec<infer T> ? T : never;
};

function numeric(
  fallback: number,
  rule: string,
  accepts: (value: number) => boolean = () => true,
): OptionSpec<number> {
  return { fallback, rule, accepts: (value) => Number.isFinite(value) && accepts(value as number) };
}

export const real = (fallback: number) => numeric(fallback, 'a finite number');

export const fraction = (fallback: number) =>
  numeric(fallback, 'a number in [0, 1]', (value) => value >= 0 && value <= 1);

export const positiveFraction = (fallback: number) =>
  numeric(fallback, 'a number in (0, 1]', (value) => value > 0 && value <= 1);

export const moreThan = (bound: number, fallback: number) =>
  numeric(fallback, `a finite number > ${bound}`, (value) => value > bound);

export const positive = (fallback: number) => moreThan(0, fallback);

export const nonNegative = (fallback: number) =>
  numeric(fallback, 'a finite number ≥ 0', (value) => value >= 0);

export const wholeNumber = (fallback: number, least = 0) =>
  numeric(fallback, `an integer ≥ ${least}`, (value) => Number.isSafeInteger(value) && value >= least);

export function flag(fallback: boolean): OptionSpec<boolean> {
  return { fallback, rule: 'true or false', accepts: (value) => typeof value === 'boolean' };
}

export function text(fallback: string): OptionSpec<string> {
  return { fallback, rule: 'a text', accepts: (value) => typeof value === 'string' };
}

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

/** Null, or a value that `inner` accepts; null is the default unless `fallback` is given. */
export function nullable<T>(inner: OptionSpec<T>, fallback: T | null = null): OptionSpec<T | null> {
  return {
    fallback,
    rule: `null or ${inner.rule}`,
    accepts: (value) => value === null || inner.accepts(value),
  };
}

/**
 * The given options, with the defaults of those that are absent or `undefined`.
 *
 * @param refuse makes the owner's error of a fault: a name that the schema lacks (with the near ones), or a value that breaks its rule
 * @throws the error that `refuse` makes of the first fault
 */
export function resolveOptions<S extends OptionSchema>(
  schema: S,
  given: Readonly<Record<string, unknown>>,
  refuse: (fault: string) => Error,
): OptionsOf<S> {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(schema, name)) {
      const known = Object.keys(schema);
      const near = nearNames(name, known);
      const list = known.length > 0 ? `its options are ${known.join(', ')}` : 'it has no options';
      throw refuse(
        `no option is named '${name}'; ${near.length > 0 ? `did you mean ${near.join(', ')}?` : list}`,
      );
    }
    const { accepts, rule } = schema[name];
    if (value !== undefined && !accepts(value)) throw refuse(`${name} is ${show(value)}, must be ${rule}`);
  }
  const entries = Object.entries(schema).map(([name, { fallback }]) => {
    return [name, given[name] === undefined ? fallback : given[name]];
  });
  return Object.fromEntries(entries) as OptionsOf<S>;
}

function show(value: unknown): string {
  return typeof value === 'number' ? String(value) : JSON.stringify(value);
}
