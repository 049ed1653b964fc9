import { showText } from './show-value.js';

const MAX_DEPTH = 16;
const MAX_FIELDS = 10_000;
const MAX_NAME_LENGTH = 100;
const RESERVED: readonly string[] = ['__proto__', 'constructor', 'prototype'];

/**
 * Says what makes an object no recipe before its fields are looked at, which takes a call for each level and time for each unknown
 * field; null for nothing.
 */
export function shapeFault(plain: object): string | null {
  const waiting: { value: object; depth: number }[] = [{ value: plain, depth: 1 }];
  let numFields = 0;
  for (let entry = waiting.pop(); entry !== undefined; entry = waiting.pop()) {
    const { value, depth } = entry;
    if (depth > MAX_DEPTH) return `it is nested more than ${MAX_DEPTH} levels deep`;
    for (const [name, inner] of Object.entries(value) as [string, unknown][]) {
      if (++numFields > MAX_FIELDS)
        return `it has more than ${MAX_FIELDS.toLocaleString('en')} fields and entries`;
      if (isReserved(name)) return `unknown field "${name}"`;
      if (name.length > MAX_NAME_LENGTH) return `unknown field "${showText(name)}"`;
      if (typeof inner === 'object' && inner !== null) waiting.push({ value: inner, depth: depth + 1 });
    }
  }
  return null;
}

/** Whether a field of that name would be one of all objects. class-transformer leaves such fields out without a word. */
export function isReserved(name: string): boolean {
  return RESERVED.includes(name);
}
