/** The languages of one task, and the titles of their tabs. */
const TABS = { sh: 'curl', ts: 'TypeScript', python: 'Python' };

/**
 * Shows code blocks that follow each other directly, each in another language of `TABS`, as tabs: on GitHub they are blocks below each other, without
 * any marker of the site between them.
 *
 * @param {import('markdown-it').default} markdown
 */
export function groupCodeBlocks(markdown) {
  markdown.core.ruler.push('group-code-blocks', (state) => {
    state.tokens = groupsOf(state.tokens).flatMap((group) => {
      if (group.length < 2) return group;
      for (const fence of group) fence.info = `${fence.info} [${TABS[fence.info]}]`;
      const open = new state.Token('container_code-group_open', 'div', 1);
      open.info = 'code-group';
      return [open, ...group, new state.Token('container_code-group_close', 'div', -1)];
    });
  });
}

/** Splits tokens into groups of blocks that belong together; any other token is one of its own. */
function groupsOf(tokens) {
  const groups = [];
  for (const token of tokens) {
    const last = groups.at(-1);
    const belongs =
      isTab(token) &&
      last?.every((other) => isTab(other) && other.level === token.level && other.info !== token.info);
    if (belongs) last.push(token);
    else groups.push([token]);
  }
  return groups;
}

function isTab({ type, info }) {
  return type === 'fence' && Object.hasOwn(TABS, info);
}
