import { type CSSProperties, type KeyboardEvent, useRef, useState } from 'react';
import { useOpenPage } from '../as-of/shown-moment';
import type { ConversationNode, NodeTarget } from './conversation-tree';
import { moveInTree, type ShownNode, shownNodes } from './tree-moves';
import styles from './conversation-view.module.css';

interface ConversationViewProps {
  readonly nodes: readonly ConversationNode[];
  /** Brings a step of the episode into view. */
  readonly onStep: (step: number) => void;
}

/** The tree of an episode; arrow keys move in it, Enter or a click goes to the step or opens the branch. */
export function ConversationView({ nodes, onStep }: ConversationViewProps) {
  const tree = useRef<HTMLUListElement>(null);
  const openPage = useOpenPage();
  const [closed, setClosed] = useState<ReadonlySet<string>>(() => new Set(closedAtFirst(nodes)));
  const [currentId, setCurrentId] = useState('');
  const shown = shownNodes(nodes, closed);
  // A node that is no longer shown hands the focus to the first.
  const current = shown.find(({ node }) => node.id === currentId)?.node ?? shown[0].node;

  const toggle = (id: string): void => {
    setClosed(
      (before) => new Set(before.has(id) ? [...before].filter((one) => one !== id) : [...before, id]),
    );
  };
  const follow = (target: NodeTarget | null): void => {
    if (target?.kind === 'step') onStep(target.step);
    else if (target?.kind === 'page') openPage(target.address);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const move = moveInTree(event.key, current.id, shown, closed);
    if (move === null && event.key !== 'Enter') return;
    event.preventDefault();
    if (move === null) follow(current.target);
    else if (move.kind === 'toggle') toggle(move.id);
    else {
      setCurrentId(move.id);
      tree.current?.querySelector<HTMLElement>(`[data-node="${CSS.escape(move.id)}"]`)?.focus();
    }
  };
  return (
    <ul ref={tree} role="tree" aria-label="Conversation" className={styles.tree} onKeyDown={onKeyDown}>
      {shown.map((one) => (
        <TreeNode
          key={one.node.id}
          shown={one}
          isCurrent={one.node.id === current.id}
          isClosed={closed.has(one.node.id)}
          onFocus={setCurrentId}
          onToggle={toggle}
          onFollow={follow}
        />
      ))}
    </ul>
  );
}

/** Many forks of a step would push the rest of the conversation away. */
function closedAtFirst(nodes: readonly ConversationNode[]): readonly string[] {
  return nodes.flatMap(({ id, kind, children }) => [
    ...(kind === 'forks' && children.length > 3 ? [id] : []),
    ...closedAtFirst(children),
  ]);
}

interface TreeNodeProps {
  readonly shown: ShownNode;
  /** The Tab key reaches it, and no other. */
  readonly isCurrent: boolean;
  readonly isClosed: boolean;
  readonly onFocus: (id: string) => void;
  readonly onToggle: (id: string) => void;
  readonly onFollow: (target: NodeTarget | null) => void;
}

/** Nodes are siblings in the page, with their levels, so that the name of one is its own text only. */
function TreeNode({ shown, isCurrent, isClosed, onFocus, onToggle, onFollow }: TreeNodeProps) {
  const { node, level, position, numSiblings } = shown;
  const { id, kind, label, detail, target, children } = node;
  const isParent = children.length > 0;
  return (
    <li
      role="treeitem"
      aria-level={level}
      aria-posinset={position}
      aria-setsize={numSiblings}
      aria-expanded={isParent ? !isClosed : undefined}
      tabIndex={isCurrent ? 0 : -1}
      data-node={id}
      data-kind={kind}
      className={styles.node}
      style={{ '--level': level - 1 } as CSSProperties}
      onFocus={() => {
        onFocus(id);
      }}
      onClick={() => {
        if (target === null) onToggle(id);
        else onFollow(target);
      }}
    >
      <span
        className={styles.arrow}
        aria-hidden
        onClick={(event) => {
          if (!isParent) return;
          event.stopPropagation();
          onToggle(id);
        }}
      >
        {isParent ? (isClosed ? '▸' : '▾') : ''}
      </span>
      <span className={styles.label}>{label}</span> <span className={styles.detail}>{detail}</span>
    </li>
  );
}
