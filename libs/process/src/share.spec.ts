import { describe, expect, it } from 'vitest';
import { readShare } from './share.js';

const read = (text: string) => readShare({ RETRACE_SINK_SHARE: text }, 'RETRACE_SINK_SHARE');

describe('readShare', () => {
  it('is everything when nothing is said', () => {
    expect(readShare({}, 'RETRACE_SINK_SHARE')).toEqual({ index: 0, count: 1 });
  });

  it('counts from 1, as people do', () => {
    expect(read('1/3')).toEqual({ index: 0, count: 3 });
    expect(read('3/3')).toEqual({ index: 2, count: 3 });
  });

  it.each(['0/3', '4/3', '3', 'a/b', '1/3/5'])('refuses %s', (text) => {
    expect(() => read(text)).toThrow(/RETRACE_SINK_SHARE: got ".*must be <number>/);
  });
});
