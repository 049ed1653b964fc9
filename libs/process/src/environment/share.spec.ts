import { describe, expect, it } from 'vitest';
import { parseShare } from './share.js';

const parse = (text?: string) => parseShare('RETRACE_SINK_SHARE', text);

describe('parseShare', () => {
  it('returns the whole when the variable is not set', () => {
    expect(parse()).toEqual({ index: 0, count: 1 });
  });

  it('reads the number of a share from 1 on', () => {
    expect(parse('1/3')).toEqual({ index: 0, count: 3 });
    expect(parse('3/3')).toEqual({ index: 2, count: 3 });
  });

  it.each(['0/3', '4/3', '3', 'a/b'])('refuses %s', (text) => {
    expect(() => parse(text)).toThrow(/RETRACE_SINK_SHARE: got ".*must be <number>/);
  });
});
