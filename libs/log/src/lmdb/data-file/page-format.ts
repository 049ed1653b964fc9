/**
 * The pages of LMDB's data file, as `mdb.c` of the driver declares them (data format 2, 64 bit, little-endian).
 *
 * Page header, 24 bytes: number u64, transaction u64, padding u16, flags u16, and then either the lower and upper bound of the free space
 * (u16 each, counted from the end of the header) or the number of pages of an overflow value (u32). Behind it, on branch and leaf pages,
 * one u16 a node: where the node is, counted the same way.
 *
 * Node, 8 bytes and then its key and value: on a leaf the size of the value u32, flags u16, the size of the key u16; on a branch the
 * number of the child page u48, the size of the key u16.
 */

export const PAGE_HEADER_BYTES = 24;

/** Sizes that LMDB takes for a page. */
const MIN_PAGE_BYTES = 512;
const MAX_PAGE_BYTES = 65_536;

/** A meta page: header, magic number and version (u32 each), and the fields at these places. */
const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
const AT = { flags: 18, magic: 24, version: 28, freeTree: 48, mainTree: 96, lastPage: 144, transaction: 152 };
export const META_BYTES = 160;
export const NUM_META_PAGES = 2;

const TREE_BYTES = 48;
const OVERFLOW_BYTES = 24;
const NODE_HEADER_BYTES = 8;

export const PAGE_KINDS = { branch: 1, leaf: 2, overflow: 4, meta: 8 } as const;
export type PageKind = keyof typeof PAGE_KINDS;
const KIND_MASK = 15;

const NODE_ON_OVERFLOW_PAGES = 1;
const NODE_IS_TREE = 2;

const NO_VALUE = Buffer.alloc(0);

/** A B+ tree. */
export interface Tree {
  readonly depth: number;
  readonly numBranchPages: number;
  readonly numLeafPages: number;
  readonly numEntries: number;
  /** Page number; beyond every file for an empty tree. */
  readonly root: number;
}

/** The content of a meta page: the state after one transaction. */
export interface Meta {
  readonly pageBytes: number;
  readonly lastPage: number;
  readonly transaction: number;
  readonly freeTree: Tree;
  readonly mainTree: Tree;
}

/** A value that has pages of its own. */
export interface OverflowValue {
  readonly firstPage: number;
  readonly numPages: number;
}

export interface Node {
  readonly key: Buffer;
  /** Of a branch. */
  readonly childPage: number;
  /** Of a leaf. */
  readonly overflow: OverflowValue | null;
  /** Of a leaf; empty where it has pages of its own. */
  readonly value: Buffer;
  readonly tree: Tree | null;
}

/** Reads a meta page from its first `META_BYTES`; null when they are none. */
export function readMeta(bytes: Buffer): Meta | null {
  if (bytes.length < META_BYTES || readPageKind(bytes) !== 'meta') return null;
  if (bytes.readUInt32LE(AT.magic) !== MAGIC || bytes.readUInt16LE(AT.version) !== DATA_VERSION) return null;
  const pageBytes = bytes.readUInt32LE(AT.freeTree);
  const isPower = (pageBytes & (pageBytes - 1)) === 0;
  if (!isPower || pageBytes < MIN_PAGE_BYTES || pageBytes > MAX_PAGE_BYTES) return null;
  return {
    pageBytes,
    lastPage: readUInt64(bytes, AT.lastPage),
    transaction: readUInt64(bytes, AT.transaction),
    freeTree: readTree(bytes, AT.freeTree),
    mainTree: readTree(bytes, AT.mainTree),
  };
}

export function readPageNumber(page: Buffer): number {
  return readUInt64(page, 0);
}

/** Null for flags that no page in a file has. */
export function readPageKind(page: Buffer): PageKind | null {
  const flags = page.readUInt16LE(AT.flags) & KIND_MASK;
  return (Object.keys(PAGE_KINDS) as PageKind[]).find((kind) => PAGE_KINDS[kind] === flags) ?? null;
}

/** Of the first page of an overflow value. */
export function readNumOverflowPages(page: Buffer): number {
  return page.readUInt32LE(20);
}

/** Reads the nodes of a branch or leaf page; null when the page contradicts itself. */
export function readNodes(page: Buffer, kind: 'branch' | 'leaf'): Node[] | null {
  const lower = page.readUInt16LE(20);
  const upper = page.readUInt16LE(22);
  const room = page.length - PAGE_HEADER_BYTES;
  if (lower % 2 !== 0 || lower > upper || upper > room) return null;
  const nodes: Node[] = [];
  for (let i = 0; i < lower / 2; i++) {
    const at = page.readUInt16LE(PAGE_HEADER_BYTES + 2 * i);
    const node = at < upper || at + NODE_HEADER_BYTES > room ? null : readNode(page, at, kind);
    if (node === null) return null;
    nodes.push(node);
  }
  return nodes;
}

/** @param at behind the header; the node's own header lies in the page */
function readNode(page: Buffer, at: number, kind: 'branch' | 'leaf'): Node | null {
  const start = PAGE_HEADER_BYTES + at;
  const keyStart = start + NODE_HEADER_BYTES;
  const keyEnd = keyStart + page.readUInt16LE(start + 6);
  if (keyEnd > page.length) return null;
  const key = page.subarray(keyStart, keyEnd);
  if (kind === 'branch')
    return { key, childPage: page.readUIntLE(start, 6), overflow: null, value: NO_VALUE, tree: null };
  if (key.length === 0) return null;
  const valueBytes = page.readUInt32LE(start);
  const flags = page.readUInt16LE(start + 4);
  const isOverflow = (flags & NODE_ON_OVERFLOW_PAGES) !== 0;
  const isTree = (flags & NODE_IS_TREE) !== 0;
  if (isTree && valueBytes !== TREE_BYTES) return null;
  if (keyEnd + (isOverflow ? OVERFLOW_BYTES : valueBytes) > page.length) return null;
  return {
    key,
    childPage: 0,
    overflow: isOverflow
      ? { firstPage: readUInt64(page, keyEnd), numPages: readUInt64(page, keyEnd + 16) }
      : null,
    value: isOverflow ? NO_VALUE : page.subarray(keyEnd, keyEnd + valueBytes),
    tree: isTree ? readTree(page, keyEnd) : null,
  };
}

function readTree(bytes: Buffer, at: number): Tree {
  return {
    depth: bytes.readUInt16LE(at + 6),
    numBranchPages: readUInt64(bytes, at + 8),
    numLeafPages: readUInt64(bytes, at + 16),
    numEntries: readUInt64(bytes, at + 32),
    root: readUInt64(bytes, at + 40),
  };
}

/** Exact below 2⁵³, which no valid field exceeds. */
export function readUInt64(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at) + 2 ** 32 * bytes.readUInt32LE(at + 4);
}
