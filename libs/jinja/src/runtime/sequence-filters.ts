/** Jinja's filters of lists and dicts. */
import { fail } from '../jinja-error.js';
import { takeSize } from '../meter.js';
import { compare, equal, isHashable, asNumber, sorted } from '../values/comparison.js';
import { str } from '../values/printing.js';
import { isText, joinTexts, originOfText, plainText, traced } from '../values/traced-text.js';
import {
  Dict,
  isTrue,
  iterate,
  Lazy,
  countItems,
  toList,
  Tuple,
  typeName,
  Undefined,
  type NamedValues,
  type Value,
} from '../values/value.js';
import { bindArguments, integerArgument } from './arguments.js';
import { readAttribute, getAttribute, getItem } from './attributes.js';
import { withParameters, type Filter, type FilterCall } from './filter.js';
import { binary, negative } from './operators.js';

type Getter = (item: Value) => Value;

/** Reads an attribute such as `function.name` or `0.text`. */
function attributeGetter(attribute: Value | undefined, fallback?: Value): Getter {
  if (attribute === undefined || attribute === null) return (item) => item;
  const parts: readonly Value[] = isText(attribute)
    ? plainText(attribute)
        .split('.')
        .map((part) => (/^\d+$/.test(part) ? BigInt(part) : part))
    : [attribute];
  return (item) =>
    parts.reduce((value, part) => {
      const found = getItem(value, part);
      return found instanceof Undefined && fallback !== undefined && fallback !== null ? fallback : found;
    }, item);
}

function ignoringCase(isCaseSensitive: Value | undefined, get: Getter): Getter {
  if (isCaseSensitive !== undefined && isTrue(isCaseSensitive)) return get;
  return (item) => {
    const value = get(item);
    return isText(value) ? traced(plainText(value).toLowerCase(), originOfText(value)) : value;
  };
}

function* mapped(
  items: Iterator<Value>,
  change: (item: Value) => Value | undefined,
): Generator<Value, undefined> {
  for (let next = items.next(); !next.done; next = items.next()) {
    takeSize(1);
    const value = change(next.value);
    if (value !== undefined) yield value;
  }
}

const map: Filter = ({ value, args, named, context }) => {
  if (!isTrue(value)) return new Lazy([][Symbol.iterator]());
  return new Lazy(mapped(iterate(value), mapping(args, named, context)));
};

function mapping(args: readonly Value[], named: NamedValues, context: FilterCall['context']): Getter {
  if (args.length === 0 && named.has('attribute')) {
    const [attribute, fallback] = bindArguments('map', ['attribute', 'default'], [], named);
    return attributeGetter(attribute, fallback);
  }
  if (args.length === 0) fail('FilterArgumentError', 'map requires a filter argument');
  const [name, ...rest] = args;
  return (item) => context.filter(plainText(str(name)), item, rest, named);
}

/** `select`, `reject` and their siblings that look at an attribute. */
function choosing(isKept: boolean, readsAttribute: boolean): Filter {
  return ({ value, args, named, context }) => {
    if (readsAttribute && args.length === 0)
      fail('FilterArgumentError', 'Missing parameter for attribute name');
    const get = readsAttribute ? attributeGetter(args[0]) : (item: Value) => item;
    const [name, ...rest] = readsAttribute ? args.slice(1) : args;
    const holds = (item: Value) =>
      (name as Value | undefined) === undefined
        ? isTrue(get(item))
        : context.test(plainText(str(name)), get(item), rest, named);
    const items = isTrue(value) ? iterate(value) : [][Symbol.iterator]();
    return new Lazy(mapped(items, (item) => (holds(item) === isKept ? item : undefined)));
  };
}

function extreme(sign: number): Filter {
  return withParameters(['case_sensitive', 'attribute'], (value, [isCaseSensitive, attribute]) => {
    const get = ignoringCase(isCaseSensitive, attributeGetter(attribute));
    const items = toList(value);
    if (items.length === 0) return new Undefined('No aggregated item, sequence was empty.');
    return items.reduce((best, item) => (sign * compare(get(item), get(best)) > 0 ? item : best));
  });
}

const sort = withParameters(
  ['reverse', 'case_sensitive', 'attribute'],
  (value, [isReverse, isCaseSensitive, attribute]) => {
    const names =
      attribute !== undefined && isText(attribute) ? plainText(attribute).split(',') : [attribute];
    const getters = names.map((name) => ignoringCase(isCaseSensitive, attributeGetter(name)));
    const key: Getter = (item) => getters.map((get) => get(item));
    return sorted(toList(value), key, isReverse !== undefined && isTrue(isReverse));
  },
);

const dictsort = withParameters(
  ['case_sensitive', 'by', 'reverse'],
  (value, [isCaseSensitive, by, isReverse]) => {
    if (value instanceof Undefined) return value.refuse();
    if (!(value instanceof Dict))
      return fail('AttributeError', `'${typeName(value)}' object has no attribute 'items'`);
    const part = by === undefined ? 'key' : plainText(str(by));
    if (part !== 'key' && part !== 'value')
      fail('FilterArgumentError', 'You can only sort by either "key" or "value"');
    const get = ignoringCase(isCaseSensitive, (item) => (item as Tuple).items[part === 'key' ? 0 : 1]);
    return sorted(value.items(), get, isReverse !== undefined && isTrue(isReverse));
  },
);

const groupby = withParameters(
  ['attribute', 'default', 'case_sensitive'],
  (value, [attribute, fallback, isCaseSensitive]) => {
    if (attribute === undefined) fail('TypeError', 'groupby needs an attribute');
    const get = attributeGetter(attribute, fallback);
    const key = ignoringCase(isCaseSensitive, get);
    const groups: { readonly key: Value; readonly items: Value[] }[] = [];
    for (const item of sorted(toList(value), key, false)) {
      const last = groups.at(-1);
      if (last !== undefined && equal(last.key, key(item))) last.items.push(item);
      else groups.push({ key: key(item), items: [item] });
    }
    return groups.map(({ items }) => new Tuple([get(items[0]), items]));
  },
);

const unique = withParameters(['case_sensitive', 'attribute'], (value, [isCaseSensitive, attribute]) => {
  const get = ignoringCase(isCaseSensitive, attributeGetter(attribute));
  const seen: Value[] = [];
  const items = mapped(iterate(value), (item) => {
    const key = get(item);
    isHashable(key);
    if (seen.some((other) => equal(other, key))) return undefined;
    seen.push(key);
    return item;
  });
  return new Lazy(items);
});

const batch = withParameters(['linecount', 'fill_with'], (value, [size, fill]) => {
  const length = integerArgument(size, 'linecount');
  const rows: Value[][] = [];
  for (const item of toList(value)) {
    const row = rows.at(-1);
    if (row === undefined || row.length === length) rows.push([item]);
    else row.push(item);
  }
  const last = rows.at(-1);
  takeSize(length);
  if (last && fill !== undefined && fill !== null) while (last.length < length) last.push(fill);
  return new Lazy(rows[Symbol.iterator]());
});

const slice = withParameters(['slices', 'fill_with'], (value, [count, fill]) => {
  const items = toList(value);
  const numSlices = integerArgument(count, 'slices');
  takeSize(numSlices);
  const size = Math.floor(items.length / numSlices);
  const numLonger = items.length % numSlices;
  const slices = Array.from({ length: numSlices }, (_, n): Value[] => {
    const start = n * size + Math.min(n, numLonger);
    const part = items.slice(start, start + size + (n < numLonger ? 1 : 0));
    return fill !== undefined && fill !== null && n >= numLonger ? [...part, fill] : part;
  });
  return new Lazy(slices[Symbol.iterator]());
});

function reversed(value: Value): Value {
  if (isText(value)) return traced([...plainText(value)].reverse().join(''), originOfText(value));
  return new Lazy([...toList(value)].reverse()[Symbol.iterator](), 'list_reverseiterator');
}

const length = withParameters([], (value) => BigInt(countItems(value)));
const fallback = withParameters(['default_value', 'boolean'], (value, [other, isBoolean]) => {
  const isMissing =
    value instanceof Undefined || (isBoolean !== undefined && isTrue(isBoolean) && !isTrue(value));
  return isMissing ? (other ?? '') : value;
});

export const SEQUENCE_FILTERS: Readonly<Record<string, Filter>> = {
  abs: withParameters([], (value) => {
    const number = asNumber(value) ?? fail('TypeError', `bad operand type for abs(): '${typeName(value)}'`);
    return number < 0 ? negative(number) : number;
  }),
  attr: withParameters(['name'], (value, [name]) => {
    const wanted = plainText(str(name ?? null));
    if (value instanceof Undefined) return value.refuse();
    return readAttribute(value, wanted) === undefined
      ? new Undefined(`'${typeName(value)} object' has no attribute '${wanted}'`)
      : getAttribute(value, wanted);
  }),
  batch,
  count: length,
  d: fallback,
  default: fallback,
  dictsort,
  first: withParameters([], (value) => {
    const next = iterate(value).next();
    return next.done ? new Undefined('No first item, sequence was empty.') : next.value;
  }),
  groupby,
  items: withParameters([], (value) => {
    if (value instanceof Undefined) return new Lazy([][Symbol.iterator]());
    if (value instanceof Dict) return new Lazy(value.items()[Symbol.iterator]());
    return fail('TypeError', 'Can only get item pairs from a mapping.');
  }),
  join: withParameters(['d', 'attribute'], (value, [separator, attribute]) =>
    joinTexts(
      toList(value).map((item) => str(attributeGetter(attribute)(item))),
      str(separator ?? ''),
    ),
  ),
  last: withParameters([], (value) => {
    if (value instanceof Lazy && value.kind === 'generator')
      fail('TypeError', "'generator' object is not reversible");
    return toList(value).at(-1) ?? new Undefined('No last item, sequence was empty.');
  }),
  length,
  list: withParameters([], (value) => [...toList(value)]),
  map,
  max: extreme(1),
  min: extreme(-1),
  reject: choosing(false, false),
  rejectattr: choosing(false, true),
  reverse: withParameters([], reversed),
  select: choosing(true, false),
  selectattr: choosing(true, true),
  slice,
  sort,
  sum: withParameters(['attribute', 'start'], (value, [attribute, start]) =>
    toList(value).reduce((sum, item) => binary('+', sum, attributeGetter(attribute)(item)), start ?? 0n),
  ),
  unique,
};
