import { IsIn, IsOptional, validateSync } from '@retrace/validation';
import { expect, it } from 'vitest';
import { HasPlaceholders, NotWith, OnlyWhere, OnlyWith, withSection } from './sibling-rules.js';

class Server {
  @IsIn(['vllm', 'sglang', 'tinker']) readonly kind!: string;
  @IsOptional() @IsIn(['native', 'verl']) readonly backend?: string;
  readonly url?: string | null;
  @IsOptional() @OnlyWhere('kind', ['vllm', 'sglang']) readonly timeoutMs?: number;
  @IsOptional() @OnlyWhere('backend', ['verl'], 'which has them') readonly options?: object;
  @IsOptional() @OnlyWith('url', 'a started server has its own') readonly token?: string;
  @IsOptional() @NotWith('url', 'which runs already') readonly numServers?: number;
  @IsOptional() @HasPlaceholders(['{port}', '{name}']) readonly command?: readonly string[];
}

/** Messages by field. */
function faultsOf(fields: object): Record<string, string> {
  const errors = validateSync(Object.assign(new Server(), { kind: 'vllm', ...fields }), {});
  return Object.fromEntries(
    errors.map(({ property, constraints }) => [
      property,
      withSection(Object.values(constraints ?? {}).join(), 'engine.'),
    ]),
  );
}

it('OnlyWhere: refuses a field where its sibling has another value, or none', () => {
  expect(faultsOf({ kind: 'sglang', timeoutMs: 1 })).toEqual({});
  expect(faultsOf({ kind: 'tinker', timeoutMs: 1 })).toEqual({
    timeoutMs: 'must be absent where engine.kind is "tinker"',
  });
  expect(faultsOf({ options: {} })).toEqual({
    options: 'must be absent where engine.backend is not "verl", which has them',
  });
  expect(faultsOf({ backend: 'native', options: {} })).toEqual({
    options: 'must be absent where engine.backend is "native", which has them',
  });
  expect(faultsOf({ kind: 'tinker' })).toEqual({});
});

it('OnlyWhere: says nothing where the sibling is what is wrong', () => {
  for (const kind of [undefined, 'ollama', 7])
    expect(Object.keys(faultsOf({ kind, timeoutMs: 1 }))).toEqual(['kind']);
});

it('OnlyWith, NotWith: take null for an absent sibling', () => {
  expect(faultsOf({ url: 'http://a', token: 't' })).toEqual({});
  for (const url of [null, undefined]) {
    expect(faultsOf({ url, token: 't' })).toEqual({
      token: 'must be absent without engine.url: a started server has its own',
    });
    expect(faultsOf({ url, numServers: 2 })).toEqual({});
  }
  expect(faultsOf({ url: 'http://a', numServers: 2 })).toEqual({
    numServers: 'must be absent with engine.url, which runs already',
  });
});

it('HasPlaceholders: names those that no word has, also of what is no list of words', () => {
  expect(faultsOf({ command: ['serve', '--at=127.0.0.1:{port}', '{name}'] })).toEqual({});
  expect(faultsOf({ command: ['{port}', 1] }).command).toMatch(/^must contain \{name\}, which/);
  expect(faultsOf({ command: 'serve {port}' }).command).toMatch(/^must contain \{port\} and \{name\}, which/);
});
