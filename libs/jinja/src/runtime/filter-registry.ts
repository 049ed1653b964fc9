import { fail } from '../jinja-error.js';
import { takeSize } from '../meter.js';
import { isText, plainText } from '../values/traced-text.js';
import { isList, type NamedValues, type Value } from '../values/value.js';
import type { Filter } from './filter.js';
import { SEQUENCE_FILTERS } from './sequence-filters.js';
import { TEXT_FILTERS } from './text-filters.js';
import { runTest } from './tests.js';

/** Filters of Jinja2 that are not here, with the reason. */
const REFUSED: Readonly<Record<string, string>> = {
  pprint: 'its line breaks depend on the version of Python',
  random: 'its result would be another each time',
  urlize: 'it writes HTML',
  xmlattr: 'it writes HTML',
};

/** @throws JinjaError for an unknown filter, or one that fails on the value */
export function runFilter(name: string, value: Value, args: readonly Value[], named: NamedValues): Value {
  if (isText(value)) takeSize(plainText(value).length);
  else if (isList(value)) takeSize(value.length);
  const filter = findFilter(name);
  if (filter) return filter({ value, args, named, context: { filter: runFilter, test } });
  const reason = Object.hasOwn(REFUSED, name)
    ? `filter "${name}" is not supported: ${REFUSED[name]}`
    : `No filter named '${name}' found.`;
  return fail('TemplateRuntimeError', reason);
}

function test(name: string, value: Value, args: readonly Value[], named: NamedValues): boolean {
  return runTest(name, value, { args, named, hasFilter });
}

export function hasFilter(name: string): boolean {
  return findFilter(name) !== undefined;
}

function findFilter(name: string): Filter | undefined {
  if (Object.hasOwn(TEXT_FILTERS, name)) return TEXT_FILTERS[name];
  return Object.hasOwn(SEQUENCE_FILTERS, name) ? SEQUENCE_FILTERS[name] : undefined;
}
