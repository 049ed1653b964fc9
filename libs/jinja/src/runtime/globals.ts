/** The functions that every template has: Jinja2's, and those that transformers adds. */
import { fail, JinjaError } from '../jinja-error.js';
import { str } from '../values/printing.js';
import { plainText } from '../values/traced-text.js';
import {
  Callable,
  Dict,
  Instance,
  toKey,
  toList,
  NumberRange,
  type Key,
  type NamedValues,
  type Value,
} from '../values/value.js';
import { integerArgument, plainArgument } from './arguments.js';
import { strftime } from './strftime.js';

const MAX_RANGE = 100_000;

/** @param now the time of `strftime_now` */
export function createGlobals(now: () => Date): ReadonlyMap<string, Value> {
  const functions: Readonly<Record<string, Callable['call']>> = {
    range: (args) => range(args),
    dict: (args, named) => dict(args, named),
    namespace: (args, named) => namespace(dict(args, named)),
    cycler: (args) => cycler(args),
    joiner: ([separator = ', ']) => joiner(separator),
    raise_exception: ([message = '']) => {
      throw new JinjaError('RENDER', plainText(str(message)));
    },
    strftime_now: ([format]) => strftime(plainArgument(format, 'format'), now()),
    lipsum: () => fail('TemplateRuntimeError', 'lipsum is not supported: its text is random'),
  };
  return new Map(Object.entries(functions).map(([name, call]) => [name, new Callable(name, call)]));
}

function range(args: readonly Value[]): NumberRange {
  if (args.length === 0 || args.length > 3)
    fail('TypeError', `range expected 1 to 3 arguments, got ${args.length}`);
  const [first, second, third] = args.map((arg) => BigInt(integerArgument(arg, 'range')));
  if (third === 0n) fail('ValueError', 'range() arg 3 must not be zero');
  const made =
    args.length === 1
      ? new NumberRange(0n, first, 1n)
      : new NumberRange(first, second, args.length === 3 ? third : 1n);
  return made.length > MAX_RANGE
    ? fail('OverflowError', `Range too big. The sandbox blocks ranges larger than ${MAX_RANGE}.`)
    : made;
}

function dict([source]: readonly Value[], named: NamedValues): Dict {
  const entries = new Map<Key, Value>();
  if (source instanceof Dict) for (const [key, value] of source.entries) entries.set(key, value);
  else if ((source as Value | undefined) !== undefined)
    for (const pair of toList(source)) {
      const [key, value] = toList(pair);
      entries.set(toKey(key), value);
    }
  for (const [key, value] of named) entries.set(key, value);
  return new Dict(entries, source instanceof Dict ? source.origin : 0);
}

function namespace({ entries }: Dict): Instance {
  const attributes = new Map<string, Value>();
  const setAttribute = (name: string, value: Value) => {
    if (name.startsWith('_'))
      fail(
        'SecurityError',
        `Chat templates cannot store underscore-prefixed attributes on a namespace, but got '${name}'. Please rename the attribute.`,
      );
    attributes.set(name, value);
  };
  for (const [name, value] of entries) setAttribute(String(name), value);
  return new Instance('Namespace', (name) => attributes.get(name), {
    setAttribute,
    content: () => new Dict(attributes),
  });
}

function cycler(items: readonly Value[]): Instance {
  if (items.length === 0) fail('RuntimeError', 'at least one item has to be provided');
  let at = 0;
  const next = new Callable('next', () => {
    const item = items[at];
    at = (at + 1) % items.length;
    return item;
  });
  const reset = new Callable('reset', () => {
    at = 0;
    return null;
  });
  return new Instance('Cycler', (name) =>
    name === 'next' ? next : name === 'reset' ? reset : name === 'current' ? items[at] : undefined,
  );
}

function joiner(separator: Value): Instance {
  let isUsed = false;
  const call = () => {
    const text = isUsed ? separator : '';
    isUsed = true;
    return text;
  };
  return new Instance('Joiner', () => undefined, { call });
}
