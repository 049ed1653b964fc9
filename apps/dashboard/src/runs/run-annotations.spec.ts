import { expect, it } from 'vitest';
import { readTags } from './run-annotations';

it('reads tags between commas, each once', () => {
  expect(readTags(' paper,, baseline , paper,two words ')).toEqual(['paper', 'baseline', 'two words']);
  expect(readTags(' , ')).toEqual([]);
});
