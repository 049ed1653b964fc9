import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Template } from './template.js';
import { parseJson } from './values/json.js';
import { Dict, type Value } from './values/value.js';

/** Goldens of Jinja2 in the environment of transformers: see their generator. */
const folder = new URL('../../../test/golden/chat-templates/', import.meta.url);
const source = readFileSync(new URL('probes.json', folder), 'utf8');
const { probes } = JSON.parse(source) as { readonly probes: readonly (readonly [string, string | null])[] };
const variables = Object.fromEntries(
  ((parseJson(source) as Dict).get('variables') as Dict).entries,
) as Readonly<Record<string, Value>>;
const now = () => new Date(2026, 10, 7, 9, 5, 3);

/** Refused with a reason, or of no use in a chat template: docs/models.md lists them. */
const NOT_SUPPORTED = new Set(["{{ '\\N{BULLET}' }}", '{{ self }}']);

/** The text, or null where the template fails. */
function rendered(template: string): string | null {
  try {
    return new Template(template, { now }).render(variables).text;
  } catch (error) {
    expect(error).toMatchObject({ name: 'JinjaError' });
    return null;
  }
}

describe('Template', () => {
  it(`renders ${probes.length} small templates as Jinja2 does, and fails where it fails`, () => {
    const wrong = probes
      .filter(([template]) => !NOT_SUPPORTED.has(template))
      .map(([template, text]) => ({ template, text, rendered: rendered(template) }))
      .filter((probe) => probe.rendered !== probe.text);
    expect(wrong).toEqual([]);
    expect(probes.length).toBeGreaterThan(6000);
  });

  it('says why it has no characters by name', () => {
    expect(() => new Template("{{ '\\N{BULLET}' }}")).toThrow(/characters by name .* are not supported/);
  });
});
