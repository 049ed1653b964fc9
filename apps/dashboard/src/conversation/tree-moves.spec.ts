import { expect, it } from 'vitest';
import type { ConversationNode } from './conversation-tree';
import { moveSideways, shownNodes } from './tree-moves';

const node = (id: string, children: readonly ConversationNode[] = []): ConversationNode => ({
  ...{ id, kind: 'turn', label: id, detail: '', target: null, children },
});
const TREE = [node('a', [node('b', [node('c')])]), node('d')];

it('shows what is below open nodes only', () => {
  const ids = (...closed: string[]) => shownNodes(TREE, new Set(closed)).map((shown) => shown.node.id);
  expect(ids()).toEqual(['a', 'b', 'c', 'd']);
  expect(ids('b')).toEqual(['a', 'b', 'd']);
  expect(ids('a')).toEqual(['a', 'd']);
  const places = shownNodes(TREE, new Set()).map((one) => [one.level, one.position, one.numSiblings]);
  expect(places).toEqual([
    [1, 1, 2],
    [2, 1, 1],
    [3, 1, 1],
    [1, 2, 2],
  ]);
});

it('moves right into a node or opens it, and left out of it or closes it', () => {
  const closed = new Set(['b']);
  const move = (key: string, id: string) => moveSideways(key, id, shownNodes(TREE, closed), closed);
  expect(move('ArrowRight', 'a')).toEqual({ kind: 'focus', id: 'b' });
  expect(move('ArrowRight', 'b')).toEqual({ kind: 'toggle', id: 'b' });
  expect(move('ArrowRight', 'd')).toBeNull();
  expect(move('ArrowLeft', 'b')).toEqual({ kind: 'focus', id: 'a' });
  expect(move('ArrowLeft', 'a')).toEqual({ kind: 'toggle', id: 'a' });
  expect(move('ArrowLeft', 'd')).toBeNull();
  expect(move('ArrowDown', 'a')).toBeNull();
});
