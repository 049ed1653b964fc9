import { describe, expect, it } from 'vitest';
import { Template } from './template.js';
import { parseJson } from './values/json.js';
import { traced } from './values/traced-text.js';
import { toValue } from './values/value.js';

const render = (template: string, variables: Readonly<Record<string, unknown>> = {}) =>
  new Template(template).render(variables);

/** The parts of a text that came from traced values, in brackets with their origin. */
function marked(template: string, variables: Readonly<Record<string, unknown>>): string {
  const { text, spans } = render(template, variables);
  const parts = spans.map(({ start, end, origin }, n) => {
    return `${text.slice(spans[n - 1]?.end ?? 0, start)}[${origin}:${text.slice(start, end)}]`;
  });
  return parts.join('') + text.slice(spans.at(-1)?.end ?? 0);
}

describe('limits of a template', () => {
  it.each([
    ['{% for a in range(9999) %}{% for b in range(9999) %}{{ b }}{% endfor %}{% endfor %}', /more steps/],
    ["{{ 'x' * 10 ** 9 }}", /characters or items/],
    [
      "{% set ns = namespace(x='ab') %}{% for a in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
      /characters or items|more steps/,
    ],
    ['{{ 9 ** (9 ** 9) }}', /number that is too large/],
    ["{{ 'a'.center(10 ** 12) }}", /characters or items/],
    ["{{ '%999999999d' % 1 }}", /characters or items/],
    ["{{ '{:>999999999}'.format(1) }}", /characters or items/],
    ["{{ 'a' | indent(10 ** 9) }}", /characters or items|makes too much/],
    ["{{ ('a' * 9000).replace('', 'b' * 9000) }}", /characters or items/],
    [
      '{% set ns = namespace(x=[1]) %}{% for a in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x | tojson }}',
      /characters or items|more steps/,
    ],
    [
      '{% set ns = namespace(x=[1]) %}{% for a in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}',
      /characters or items|more steps/,
    ],
    ['{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}', /nested too deeply|more steps/],
    [`{{ ${'('.repeat(50_000)}1${')'.repeat(50_000)} }}`, /nested too deeply/],
  ])('ends %s', (template, problem) => {
    expect(() => render(template)).toThrow(problem);
  });

  it('are counted for each rendering', () => {
    const template = new Template('{% for a in range(20) %}{{ a }}{% endfor %}', { maxSteps: 200 });
    for (let n = 0; n < 9; n++) expect(template.render({}).text).toMatch(/^0123/);
    expect(() =>
      new Template('{% for a in range(200) %}{{ a }}{% endfor %}', { maxSteps: 200 }).render({}),
    ).toThrow(expect.objectContaining({ code: 'LIMIT' }) as Error);
  });
});

describe('origins of a text', () => {
  const user = traced('  a.b  ', 2);
  const agent = traced('<think>x</think>y', 1);

  it.each<[string, string]>([
    ['<{{ user }}>', '<[2:  a.b  ]>'],
    ['{{ user | trim }}', '[2:a.b]'],
    ["{{ (user | trim).split('.')[1] }}!", '[2:b]!'],
    ["{{ 'x' + user.strip() ~ agent }}", 'x[2:a.b][1:<think>x</think>y]'],
    ["{{ agent.split('</think>')[-1] }}", '[1:y]'],
    ['{{ agent[7:8] }}', '[1:x]'],
    ["{{ user.strip().replace('.', '-') }}", '[2:a]-[2:b]'],
    ['{{ user.upper() }}', '[2:  A.B  ]'],
    ["{{ [user.strip(), agent] | join(', ') }}", '[2:a.b], [1:<think>x</think>y]'],
    ['{{ [user, 1] | tojson }}', '[2:["  a.b  ", 1]]'],
    ["{{ '%s|%s' % (user.strip(), 'z') }}", '[2:a.b]|z'],
    ["{{ '{}|{}'.format(user.strip(), 'z') }}", '[2:a.b]|z'],
    ['{% for c in user.strip() %}{{ c }}{% endfor %}', '[2:a][2:.][2:b]'],
    ['{% for k, v in given.items() %}{{ k }}={{ v }}{% endfor %}', '[2:k]=[2:v]'],
    ['{% for k in given %}{{ k }}{% endfor %}', '[2:k]'],
    ['{{ given | dictsort | first | first }}', '[2:k]'],
    ['{% set x %}{{ user.strip() }}{% endset %}<{{ x }}>', '<[2:a.b]>'],
    ['{% macro m(a) %}({{ a }}){% endmacro %}{{ m(user.strip()) }}', '([2:a.b])'],
    ["{{ 'same' if user == '  a.b  ' and 'a' in user and user.strip().startswith('a') }}", 'same'],
    ["{{ 'a\\n' ~ user.strip() | indent(2) }}", 'a\n[2:a.b]'],
  ])('%s is %s', (template, expected) => {
    expect(marked(template, { user, agent, given: toValue({ k: 'v' }, 2) })).toBe(expected);
  });

  it('tells whether a list or dict was printed as Python writes it, or a text looped over', () => {
    const given = toValue({ a: 1 }, 1);
    expect(render('{{ given }}', { given })).toMatchObject({ text: "{'a': 1}", hasMisread: true });
    expect(render("{{ 'x' ~ given }}", { given }).hasMisread).toBe(true);
    expect(render('{% for c in user %}{% endfor %}', { user }).hasMisread).toBe(true);
    expect(
      render('{{ given | tojson }}{{ [1] }}{% for c in [user] %}{% endfor %}', { given, user }).hasMisread,
    ).toBe(false);
  });
});

describe('parseJson', () => {
  it.each([
    '{"b": 1, "a": [12345678901234567890, -3, 3.0, 1e-07, 1e+22, true, null, "é🙂\\n"], "10": {}, "2": []}',
    '[]',
    '-0.0',
  ])('keeps the numbers and the order of keys of %s', (text) => {
    // A dict's floats are told from whole numbers.
    const value = parseJson(`{"value": ${text}}`);
    expect(render('{{ value | tojson }}', { value }).text).toBe(`{"value": ${text}}`);
  });

  it.each(['{', '{"a": 01}', '[1,]', "{'a': 1}", '', 'NaN'])('refuses %s', (text) => {
    expect(() => parseJson(text)).toThrow(expect.objectContaining({ name: 'JinjaError' }) as Error);
  });

  it('refuses what is nested too deeply', () => {
    expect(() => parseJson('['.repeat(100_000) + ']'.repeat(100_000))).toThrow(
      /nested deeper than 500 levels/,
    );
    expect(() => parseJson('['.repeat(400) + ']'.repeat(400))).not.toThrow();
  });

  it('lets the last of two equal keys win, in the place of the first, as Python does', () => {
    const value = parseJson('{"a": 1, "b": 2, "a": 3}');
    expect(render('{{ value | tojson }}', { value }).text).toBe('{"a": 3, "b": 2}');
  });
});
