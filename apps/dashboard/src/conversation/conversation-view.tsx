import { Composite, CompositeItem, useCompositeStore } from '@ariakit/react/composite';
import { type CSSProperties, type KeyboardEvent, useState } from 'react';
import { useOpenPage } from '../as-of/shown-moment';
import { Link } from '../components/link';
import type { ConversationNode } from './conversation-tree';
import { moveSideways, type ShownNode, shownNodes } from './tree-moves';
import styles from './conversation-view.module.css';

interface ConversationViewProps {
  readonly nodes: readonly ConversationNode[];
  /** Brings a step of the episode into view. */
  readonly onStep: (step: number) => void;
}

/** The tree of an episode; arrow keys move in it, Enter or a click goes to the step or opens the branch. */
export function ConversationView({ nodes, onStep }: ConversationViewProps) {
  const composite = useCompositeStore({ orientation: 'vertical' });
  const openPage = useOpenPage();
  /** Those that were opened or closed since they were first shown. */
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const closed = differing(new Set(closedAtFirst(nodes)), toggled);
  const shown = shownNodes(nodes, closed);

  const toggle = (id: string): void => {
    setToggled((before) => differing(before, new Set([id])));
  };
  const follow = ({ id, target }: ConversationNode): void => {
    if (target === null) toggle(id);
    else if (target.kind === 'step') onStep(target.step);
    else openPage(target.address);
  };
  const onKeyDown = (event: KeyboardEvent, id: string): void => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const move = moveSideways(event.key, id, shown, closed);
    if (move === null) return;
    event.preventDefault();
    if (move.kind === 'toggle') toggle(move.id);
    else composite.move(elementId(move.id));
  };
  return (
    <Composite
      store={composite}
      role="tree"
      aria-label="Conversation"
      className={styles.tree}
      render={<ul />}
    >
      {shown.map((one) => (
        <TreeNode
          key={one.node.id}
          shown={one}
          isClosed={closed.has(one.node.id)}
          onKeyDown={onKeyDown}
          onToggle={toggle}
          onFollow={follow}
        />
      ))}
    </Composite>
  );
}

function elementId(nodeId: string): string {
  return `node-${nodeId.replaceAll(' ', '-')}`;
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
  readonly isClosed: boolean;
  readonly onKeyDown: (event: KeyboardEvent, id: string) => void;
  readonly onToggle: (id: string) => void;
  /** Goes to the target of a node; opens or closes one without. */
  readonly onFollow: (node: ConversationNode) => void;
}

/** Nodes are siblings in the page, with their levels, so that the name of one is its own text only. */
function TreeNode({ shown, isClosed, onKeyDown, onToggle, onFollow }: TreeNodeProps) {
  const { node, level, position, numSiblings } = shown;
  const { id, kind, label, detail, target, children } = node;
  const isParent = children.length > 0;
  return (
    <CompositeItem
      id={elementId(id)}
      role="treeitem"
      aria-level={level}
      aria-posinset={position}
      aria-setsize={numSiblings}
      aria-expanded={isParent ? !isClosed : undefined}
      data-kind={kind}
      className={styles.node}
      style={{ '--level': level - 1 } as CSSProperties}
      render={<li />}
      onKeyDown={(event) => {
        onKeyDown(event, id);
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
    </CompositeItem>
  );
}
