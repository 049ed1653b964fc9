import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { takesMoment } from './takes-moment';

interface Operation {
  readonly parameters?: readonly { readonly name: string }[];
}

it('takes a moment where the document of the API says so', () => {
  const text = readFileSync(new URL('../../../api/openapi.json', import.meta.url), 'utf8');
  const { paths } = JSON.parse(text) as { paths: Record<string, { readonly get?: Operation }> };
  for (const [path, { get }] of Object.entries(paths)) {
    if (get === undefined) continue;
    expect(takesMoment(path), path).toBe(get.parameters?.some(({ name }) => name === 'asOf') ?? false);
  }
});
