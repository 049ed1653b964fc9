import { IsOptional, validateSync } from '@retrace/validation';
import { expect, it } from 'vitest';
import { HasPlaceholders, NotWith, OnlyWhere, OnlyWith } from './sibling-rules.js';

class Server {
  readonly kind?: string;
  readonly url?: string | null;
  @IsOptional() @OnlyWhere('kind', ['vllm', 'sglang']) readonly timeoutMs?: number;
  @IsOptional() @OnlyWith('url', 'a started server has its own') readonly token?: string;
  @IsOptional() @NotWith('url', 'which runs already') readonly numServers?: number;
  @IsOptional() @HasPlaceholders(['{port}', '{name}']) readonly command?: readonly string[];
}

/** Messages by field. */
function faultsOf(fields: object): Record<string, string> {
  const errors = validateSync(Object.assign(new Server(), fields), {});
  return Object.fromEntries(
    errors.map(({ property, constraints }) => [property, Object.values(constraints ?? {}).join()]),
  );
}

it('OnlyWhere: refuses a field where its sibling has another value, or none', () => {
  expect(faultsOf({ kind: 'sglang', timeoutMs: 1 })).toEqual({});
  expect(faultsOf({ kind: 'tinker', timeoutMs: 1 })).toEqual({
    timeoutMs: 'must be absent where kind is "tinker"',
  });
  expect(faultsOf({ timeoutMs: 1 })).toEqual({ timeoutMs: 'must be absent where kind is absent' });
  expect(faultsOf({ kind: 'tinker' })).toEqual({});
});

it('OnlyWith, NotWith: take null for an absent sibling', () => {
  expect(faultsOf({ url: 'http://a', token: 't' })).toEqual({});
  for (const url of [null, undefined]) {
    expect(faultsOf({ url, token: 't' })).toEqual({
      token: 'must be absent without url: a started server has its own',
    });
    expect(faultsOf({ url, numServers: 2 })).toEqual({});
  }
  expect(faultsOf({ url: 'http://a', numServers: 2 })).toEqual({
    numServers: 'must be absent with url, which runs already',
  });
});

it('HasPlaceholders: names those that no word has, also of what is no list of words', () => {
  expect(faultsOf({ command: ['serve', '--at=127.0.0.1:{port}', '{name}'] })).toEqual({});
  expect(faultsOf({ command: ['{port}', 1] }).command).toMatch(/^must contain \{name\}, which/);
  expect(faultsOf({ command: 'serve {port}' }).command).toMatch(/^must contain \{port\} and \{name\}, which/);
});
