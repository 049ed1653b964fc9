import { posix } from 'node:path';

/**
 * Shows the text of links to files outside of `docs/`, which the repository has and the site has not, without the link.
 *
 * @param {import('markdown-it').default} markdown
 */
export function unlinkFilesOutside(markdown) {
  markdown.core.ruler.push('unlink-files-outside', ({ tokens, env }) => {
    for (const { children } of tokens) {
      if (children !== null) unlink(children, posix.dirname(env.relativePath ?? ''));
    }
  });
}

/** Links are never inside others. */
function unlink(tokens, folder) {
  let isOutside = false;
  for (const token of tokens) {
    if (token.type === 'link_open') isOutside = leavesDocuments(token.attrGet('href') ?? '', folder);
    if (!isOutside || !token.type.startsWith('link_')) continue;
    token.hidden = true;
    token.type = 'text';
    token.content = '';
    token.nesting = 0;
  }
}

function leavesDocuments(href, folder) {
  return href.startsWith('.') && posix.join(folder, href).startsWith('..');
}
