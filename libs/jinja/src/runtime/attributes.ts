/** Jinja's `value.name` and `value[key]` in its immutable sandbox. */
import { fail } from '../jinja-error.js';
import { equal, asNumber } from '../values/comparison.js';
import { isText, plainText } from '../values/traced-text.js';
import {
  Callable,
  Dict,
  DictView,
  Instance,
  isList,
  sequenceItems,
  Tuple,
  typeName,
  Undefined,
  type NamedValues,
  type Value,
} from '../values/value.js';
import { bindArguments } from './arguments.js';
import { readItem } from './operators.js';
import { textMethod } from './text-methods.js';

/** Methods that would change a value, which the sandbox forbids. */
const CHANGING_LISTS: readonly string[] = 'append clear pop reverse insert sort extend remove'.split(' ');
const CHANGING_DICTS: readonly string[] = 'clear pop popitem setdefault update'.split(' ');

/** `value.name`: the attribute, or else the item. @throws JinjaError on undefined values and what the sandbox forbids */
export function getAttribute(value: Value, name: string): Value {
  if (value instanceof Undefined) return value.refuse();
  return readAttribute(value, name) ?? readItem(value, name) ?? missing(value, name);
}

/** `value[key]`: the item, or else the attribute. */
export function getItem(value: Value, key: Value): Value {
  const item = readItem(value, key);
  if (item !== undefined) return item;
  if (isText(key)) return readAttribute(value, plainText(key)) ?? missing(value, plainText(key));
  return new Undefined(`${described(value)} has no element ${isText(key) ? plainText(key) : typeName(key)}`);
}

/** The Python attribute of a value, which is a method but for loops and namespaces; undefined where it has none. */
export function readAttribute(value: Value, name: string): Value | undefined {
  if (value instanceof Instance) return value.attribute(name);
  if (value instanceof Callable && value.kind === 'Macro' && name === 'name') return value.name;
  if (typeof value !== 'object' && NUMBER_ATTRIBUTES.includes(name) && asNumber(value) !== null)
    return numberAttribute(value, name);
  const call = findMethod(value, name);
  if (call) return new Callable(name, call, 'builtin_function_or_method');
  return isChanging(value, name)
    ? new Undefined(`access to attribute '${name}' of '${typeName(value)}' object is unsafe.`)
    : undefined;
}

const NUMBER_ATTRIBUTES: readonly string[] = ['real', 'imag', 'numerator', 'denominator'];

function numberAttribute(value: Value, name: string): Value | undefined {
  const number = asNumber(value);
  if (name === 'real') return number ?? undefined;
  if (typeof number === 'number') return name === 'imag' ? 0 : undefined;
  return name === 'numerator' ? (number ?? undefined) : name === 'denominator' ? 1n : 0n;
}

function isChanging(value: Value, name: string): boolean {
  return (
    (isList(value) && CHANGING_LISTS.includes(name)) ||
    (value instanceof Dict && CHANGING_DICTS.includes(name))
  );
}

function missing(value: Value, name: string): Undefined {
  return new Undefined(`${described(value)} has no attribute '${name}'`);
}

function described(value: Value): string {
  return value === null ? "'None'" : `'${typeName(value)} object'`;
}

type Call = (args: readonly Value[], named: NamedValues) => Value;

function findMethod(value: Value, name: string): Call | null {
  if (isText(value)) {
    const run = textMethod(name, { attribute: getAttribute, item: getItem });
    return run && ((args, named) => run(value, args, named));
  }
  if (value instanceof Dict) return dictMethod(value, name);
  if (isList(value) || value instanceof Tuple) return sequenceMethod(value, name);
  if (typeof value === 'number' && name === 'is_integer') return () => Number.isInteger(value);
  return null;
}

function dictMethod(dict: Dict, name: string): Call | null {
  switch (name) {
    case 'get':
      return (args, named) => {
        const [key, fallback] = bindArguments('get', ['key', 'default'], args, named);
        return dict.get(key ?? null) ?? fallback ?? null;
      };
    case 'items':
      return () => new DictView(dict.items(), 'dict_items');
    case 'keys':
      return () => new DictView(dict.keys(), 'dict_keys');
    case 'values':
      return () => new DictView([...dict.entries.values()], 'dict_values');
    case 'copy':
      return () => dict;
    default:
      return null;
  }
}

function sequenceMethod(value: readonly Value[] | Tuple, name: string): Call | null {
  const items = sequenceItems(value) as readonly Value[];
  switch (name) {
    case 'count':
      return ([wanted]) => BigInt(items.filter((item) => equal(item, wanted)).length);
    case 'index':
      return ([wanted]) => {
        const at = items.findIndex((item) => equal(item, wanted));
        return at < 0 ? fail('ValueError', 'the value is not in the list') : BigInt(at);
      };
    case 'copy':
      return isList(value) ? () => value : null;
    default:
      return null;
  }
}
