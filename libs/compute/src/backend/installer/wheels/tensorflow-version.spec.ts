import { expect, it } from 'vitest';
import { parseTensorflowVersion } from './tensorflow-version.js';

it('parseTensorflowVersion names the option or variable that it refuses', () => {
  expect(parseTensorflowVersion('2.20.0', '--tensorflow')).toBe('2.20.0');
  expect(() => parseTensorflowVersion('2.20', '--tensorflow')).toThrow(
    '--tensorflow is "2.20"; it must be one of 2.21.0, 2.20.0, 2.19.1',
  );
});
