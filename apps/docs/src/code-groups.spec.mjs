import { createMarkdownRenderer } from 'vitepress';
import { beforeAll, describe, expect, it } from 'vitest';
import { groupCodeBlocks } from './code-groups.mjs';
import { unlinkFilesOutside } from './outside-links.mjs';

let markdown;
beforeAll(async () => {
  markdown = await createMarkdownRenderer('.', {
    languages: ['sh', 'ts', 'python'],
    config: (each) => {
      groupCodeBlocks(each);
      unlinkFilesOutside(each);
    },
  });
});

const block = (/** @type {string} */ language) => `\`\`\`${language}\n1\n\`\`\`\n`;
/** The titles of the tabs of each group. */
function tabsOf(/** @type {string} */ source) {
  const groups = markdown.render(source, { relativePath: 'sql.md' }).split('vp-code-group').slice(1);
  return groups.map((group) => [...group.matchAll(/<label data-title="([^"]*)"/g)].map(([, title]) => title));
}

describe('code blocks', () => {
  it('of one task in several languages are tabs, in their order', () => {
    const source = `${block('sh')}\n${block('ts')}\n${block('python')}`;
    expect(tabsOf(source)).toEqual([['curl', 'TypeScript', 'Python']]);
  });

  it('with text between them, of one language, or of another one stay as they are', () => {
    expect(tabsOf(`${block('sh')}\nThen:\n\n${block('ts')}`)).toEqual([]);
    expect(tabsOf(`${block('ts')}\n${block('ts')}`)).toEqual([]);
    expect(tabsOf(`${block('sh')}\n${block('json')}`)).toEqual([]);
  });

  it('are tabs in two groups where a language comes again', () => {
    const source = `${block('sh')}\n${block('ts')}\n${block('sh')}\n${block('python')}`;
    expect(tabsOf(source)).toEqual([
      ['curl', 'TypeScript'],
      ['curl', 'Python'],
    ]);
  });
});

describe('links', () => {
  const render = (/** @type {string} */ source, relativePath = 'sql.md') =>
    markdown.render(source, { relativePath });

  it('to files outside of the documentation are text', () => {
    expect(render('See [its README](../apps/cli/README.md) first.')).toBe('<p>See its README first.</p>\n');
    expect(render('[README](../../README.md)', 'decisions/0001.md')).toBe('<p>README</p>\n');
  });

  it('to pages, from a folder too, and to other sites stay', () => {
    expect(render('[operations](../operations.md#the-data)', 'decisions/0001.md')).toContain(
      'operations.html#the-data"',
    );
    expect(render('[RE2](https://example.org/x)')).toContain('href="https://example.org/x"');
  });
});
