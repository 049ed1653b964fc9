import type { Damage } from './damage.js';
import type { PageFile } from './page-file.js';
import {
  readPageKind,
  type Meta,
  type Node,
  readNumOverflowPages,
  readPageNumber,
  readNodes,
  type Tree,
} from './page-format.js';
import type { PageUse } from './page-use.js';

/** LMDB's own limit of a tree's depth. */
const MAX_DEPTH = 32;

/** The part of a tree to read. Leaves that are not read are only looked for: their numbers must be pages of the file. */
export interface WalkScope {
  /** Read only the first and the last leaf. */
  readonly onlyEdges?: boolean;
  /** Read no leaf whose keys are all lower. */
  readonly from?: Buffer;
  /** After so many leaves the walk ends. */
  readonly maxLeaves?: number;
  /** Whether the keys must ascend in the order of their bytes: LMDB compares keys of its own trees differently. */
  readonly ordered?: boolean;
}

export interface TreeToWalk {
  readonly file: PageFile;
  readonly meta: Meta;
  readonly tree: Tree;
  /** Named in the damage. */
  readonly name: string;
  readonly scope: WalkScope;
  readonly damage: Damage;
  /** Where each page of the tree is noted. */
  readonly use?: PageUse;
  readonly onNode?: (node: Node) => void;
}

/** A page of a tree, and the keys between which its own must lie; null for no limit. */
interface Place {
  readonly page: number;
  /** 1 for a leaf. */
  readonly level: number;
  readonly low: Buffer | null;
  readonly high: Buffer | null;
}

/** Reads the pages of one tree and notes which are damaged. */
export class TreeWalk {
  /** The lowest key that was not checked, where the walk ended early. */
  end: Buffer | null = null;
  private numBranches = 0;
  private numLeaves = 0;
  private numLeavesRead = 0;
  private numEntries = 0;

  constructor(private readonly job: TreeToWalk) {}

  run(): this {
    const { tree, damage, name, scope } = this.job;
    if (tree.numEntries === 0 && tree.depth === 0) return this;
    if (tree.depth < 1 || tree.depth > MAX_DEPTH) {
      damage.add(`the tree of ${name} has depth ${tree.depth}`);
      return this;
    }
    this.visit({ page: tree.root, level: tree.depth, low: null, high: null });
    if (damage.isAny || scope.from !== undefined) return this;
    this.compare('branch pages', this.numBranches, tree.numBranchPages);
    this.compare('leaf pages', this.numLeaves, tree.numLeafPages);
    if (this.numLeavesRead === this.numLeaves) this.compare('entries', this.numEntries, tree.numEntries);
    return this;
  }

  private compare(what: string, found: number, expected: number): void {
    const { damage, name } = this.job;
    if (found !== expected) damage.add(`the tree of ${name} has ${found} ${what}; must have ${expected}`);
  }

  private visit(place: Place): void {
    if (this.end !== null) return;
    if (place.page > this.job.meta.lastPage) {
      this.note(place, null);
      return;
    }
    this.job.use?.take({ firstPage: place.page, numPages: 1 }, this.job.name);
    if (place.level === 1) this.visitLeaf(place);
    else this.visitBranch(place);
  }

  private visitBranch(place: Place): void {
    const { tree, scope } = this.job;
    // A damaged page may lead back to others, again and again.
    if (++this.numBranches > tree.numBranchPages) return;
    const nodes = this.readNodes(place, 'branch');
    if (nodes === null) return;
    nodes.forEach(({ key, childPage }, i) => {
      const high = i + 1 < nodes.length ? nodes[i + 1].key : place.high;
      if (high !== null && scope.from !== undefined && Buffer.compare(high, scope.from) <= 0) return;
      // The first key of a branch covers all lower ones.
      this.visit({ page: childPage, level: place.level - 1, low: i === 0 ? place.low : key, high });
    });
  }

  private visitLeaf(place: Place): void {
    const { scope } = this.job;
    this.numLeaves++;
    if (scope.onlyEdges === true && place.low !== null && place.high !== null) return;
    if (this.numLeavesRead >= (scope.maxLeaves ?? Infinity)) {
      this.end = place.low;
      return;
    }
    this.numLeavesRead++;
    const nodes = this.readNodes(place, 'leaf');
    if (nodes === null) return;
    this.numEntries += nodes.length;
    if (scope.ordered === true && !isOrdered(nodes, place)) this.note(place, this.pageAt(place.page));
    const overflows = nodes.flatMap(({ overflow }) => (overflow === null ? [] : [overflow]));
    for (const node of nodes) this.job.onNode?.(node);
    for (const { firstPage, numPages } of overflows) this.checkOverflow(firstPage, numPages);
  }

  private pageAt(number: number): Buffer | null {
    const { file, meta } = this.job;
    return file.page(number, meta.pageBytes);
  }

  private readNodes(place: Place, kind: 'branch' | 'leaf'): Node[] | null {
    const page = this.pageAt(place.page);
    const isPage = page !== null && readPageNumber(page) === place.page && readPageKind(page) === kind;
    // The pages below a branch take its place in memory.
    const nodes = isPage ? readNodes(kind === 'branch' ? Buffer.from(page) : page, kind) : null;
    if (nodes !== null && nodes.length > 0) return nodes;
    this.note(place, page);
    return null;
  }

  private checkOverflow(firstPage: number, numPages: number): void {
    const { file, meta, name, damage, use } = this.job;
    const lastPage = firstPage + numPages - 1;
    const isInside = numPages > 0 && lastPage <= meta.lastPage && file.holds(lastPage, meta.pageBytes);
    const page = isInside ? file.page(firstPage, meta.pageBytes) : null;
    const isPage =
      page !== null &&
      readPageNumber(page) === firstPage &&
      readPageKind(page) === 'overflow' &&
      readNumOverflowPages(page) === numPages;
    if (isPage) use?.take({ firstPage, numPages }, name);
    else damage.addPage(firstPage, name, page);
  }

  private note({ page: number }: Place, page: Buffer | null): void {
    this.job.damage.addPage(number, this.job.name, page);
  }
}

function isOrdered(nodes: readonly Node[], { low, high }: Place): boolean {
  return nodes.every(({ key }, i) => {
    if (i > 0 && Buffer.compare(nodes[i - 1].key, key) >= 0) return false;
    if (low !== null && Buffer.compare(low, key) > 0) return false;
    return high === null || Buffer.compare(key, high) < 0;
  });
}
