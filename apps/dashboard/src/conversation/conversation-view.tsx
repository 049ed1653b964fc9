import { type CSSProperties, type KeyboardEvent, useRef, useState } from 'react';
import { useOpenPage } from '../as-of/shown-moment';
import { Link } from '../components/link';
import type { ConversationNode } from './conversation-tree';
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
  /** Those that were opened or closed since they were first shown. */
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [currentId, setCurrentId] = useState('');
  const closed = differing(new Set(closedAtFirst(nodes)), toggled);
  const shown = shownNodes(nodes, closed);
  // A node that is no longer shown hands the focus to the first.
  const current = shown.find(({ node }) => node.id === currentId)?.node ?? shown[0].node;

  const toggle = (id: string): void => {
    setToggled((before) => differing(before, new Set([id])));
  };
  const follow = ({ id, target }: ConversationNode): void => {
    if (target === null) toggle(id);
    else if (target.kind === 'step') onStep(target.step);
    else openPage(target.address);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const move = moveInTree(event.key, current.id, shown, closed);
    if (move === null && event.key !== 'Enter') return;
    event.preventDefault();
    if (move === null) follow(current);
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

/** Ids that are in one of the sets only. */
function differing(one: ReadonlySet<string>, other: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...[...one].filter((id) => !other.has(id)), ...[...other].filter((id) => !one.has(id))]);
}

interface TreeNodeProps {
  readonly shown: ShownNode;
  /** The Tab key reaches it, and no other. */
  readonly isCurrent: boolean;
  readonly isClosed: boolean;
  readonly onFocus: (id: string) => void;
  readonly onToggle: (id: string) => void;
  /** Goes to the target of a node; opens or closes one without. */
  readonly onFollow: (node: ConversationNode) => void;
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
      onClick={({ target: clicked }) => {
        // A link follows itself, or opens another tab.
        if (!(clicked as Element).closest('a')) onFollow(node);
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
      {target?.kind === 'page' ? (
        <Link className={styles.label} to={target.address} tabIndex={-1}>
          {label}
        </Link>
      ) : (
        <span className={styles.label}>{label}</span>
      )}{' '}
      <span className={styles.detail}>{detail}</span>
    </li>
  );
}
