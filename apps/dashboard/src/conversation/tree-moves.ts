import type { ConversationNode } from './conversation-tree';

/** A node that is shown, since all above it are open. */
export interface ShownNode {
  readonly node: ConversationNode;
  readonly parentId: string | null;
  /** 1 at the top. */
  readonly level: number;
  /** Among its siblings, from 1. */
  readonly position: number;
  readonly numSiblings: number;
}

/** The nodes that are shown, from top to bottom. */
export function shownNodes(
  nodes: readonly ConversationNode[],
  closed: ReadonlySet<string>,
  parentId: string | null = null,
  level = 1,
): readonly ShownNode[] {
  return nodes.flatMap((node, place) => [
    { node, parentId, level, position: place + 1, numSiblings: nodes.length },
    ...(closed.has(node.id) ? [] : shownNodes(node.children, closed, node.id, level + 1)),
  ]);
}

/** Result of a key in a tree: another node has the focus, or the current one is opened or closed. */
export type TreeMove =
  | { readonly kind: 'focus'; readonly id: string }
  | { readonly kind: 'toggle'; readonly id: string };

/**
 * Moves into a node and out of it, as the pattern of ARIA describes it for trees.
 *
 * @returns null for a key that does nothing there
 */
export function moveSideways(
  key: string,
  currentId: string,
  shown: readonly ShownNode[],
  closed: ReadonlySet<string>,
): TreeMove | null {
  const place = shown.findIndex(({ node }) => node.id === currentId);
  if (place === -1) return null;
  const { node, parentId } = shown[place];
  const isParent = node.children.length > 0;
  const isClosed = closed.has(node.id);
  if (key === 'ArrowRight' && isParent)
    return isClosed ? { kind: 'toggle', id: node.id } : { kind: 'focus', id: node.children[0].id };
  if (key !== 'ArrowLeft') return null;
  if (isParent && !isClosed) return { kind: 'toggle', id: node.id };
  return parentId === null ? null : { kind: 'focus', id: parentId };
}
