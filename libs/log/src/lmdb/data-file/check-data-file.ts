import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { LogError } from '../../log-error.js';
import { Damage } from './damage.js';
import { PageFile } from './page-file.js';
import { type Meta, PAGE_HEADER_BYTES, type Tree } from './page-format.js';
import { type FreeList, PageUse } from './page-use.js';
import { TreeWalk, type WalkScope } from './tree-walk.js';

/** A writer may use a page again while it is read here. What looks damaged is then looked at once more. */
const MAX_ATTEMPTS = 5;

/** Trees of records, whose keys ascend as bytes do. */
const RECORDS = /^(control|trajectories)\/\d+$/;

const RULE =
  'stop what uses it, then restore the directory from a backup, or run `retrace rebuild --log-from-store`, which writes the log again from the store';

/**
 * Checks the pages of a log's data file that are read when it is opened: both meta pages, every branch, the control events, and the first and
 * the last records of the other partitions. The driver reads the file through memory, where a page that is cut off or zeroed would end the
 * process. A missing or empty file, which the driver takes for a new one, passes.
 *
 * @returns whether it could tell: false where each look met a writer's changes, so that what looked damaged may be a page that was used
 *   again. Whoever holds a snapshot can always tell.
 * @throws LogError `LOG_CORRUPT` naming the first damaged page
 */
export function checkDataFile(directory: string): boolean {
  return 'result' in look(directory, checkOpened);
}

/** As `checkDataFile`, in a snapshot that the caller holds (`inSnapshot`). @throws LogError `LOG_CORRUPT` naming the first damaged page */
export function checkHeldDataFile(directory: string): void {
  lookHeld(directory, checkOpened);
}

/**
 * Checks every page, in a snapshot that the caller holds (`inSnapshot`).
 *
 * @throws LogError `LOG_CORRUPT` naming the first damaged page
 */
export function checkWholeDataFile(directory: string): void {
  lookHeld(directory, (parts) => walkAll(parts, () => ({})));
}

/**
 * Checks pages with records from a key on, in a snapshot that the caller holds (`inSnapshot`), and returns the key up to which it came; null
 * for the end.
 *
 * @param database the named database of the records
 * @throws LogError `LOG_CORRUPT` naming the first damaged page
 */
export function checkRecordPages(
  directory: string,
  database: string,
  { from, maxLeaves }: { readonly from: Buffer; readonly maxLeaves: number },
): Buffer | null {
  return lookHeld(directory, (parts) => {
    const tree = namedTrees(parts).get(database);
    if (tree === undefined) return null;
    const scope = { from, maxLeaves, ordered: true };
    return new TreeWalk({ ...parts, tree, name: database, scope }).run().end;
  });
}

interface CheckParts {
  readonly file: PageFile;
  readonly meta: Meta;
  readonly damage: Damage;
}

/** Checks what opening reads. */
function checkOpened({ file, meta, damage }: CheckParts): void {
  // The last pages may be missing only where no tree has them, which all leaves together say.
  const isWhole = file.holds(meta.lastPage, meta.pageBytes);
  walkAll({ file, meta, damage }, (name) =>
    isWhole && name.startsWith('trajectories/') ? { onlyEdges: true } : {},
  );
}

type Finding<Result> =
  /** Of the check; null where there is no file. */
  | { readonly result: Result | null }
  /** Damage that was found while the file changed all the time. */
  | { readonly undecided: Damage };

/** Runs a check on the newest state of the file. */
function look<Result>(directory: string, run: (parts: CheckParts) => Result): Finding<Result> {
  const path = join(directory, 'data.mdb');
  if (!existsSync(path)) return { result: null };
  const file = PageFile.open(path);
  if (file === null) throw corrupt(directory, 'data.mdb is no regular file');
  try {
    // A process that was killed while it created the file leaves an empty one, which LMDB accepts.
    if (file.sizeBytes === 0) return { result: null };
    for (let attempt = 1; ; attempt++) {
      const meta = newestMeta(file, directory);
      const damage = new Damage();
      const result = run({ file, meta, damage });
      if (!damage.isAny) return { result };
      file.refresh();
      const hasChanged = newestMeta(file, directory).transaction !== meta.transaction;
      if (!hasChanged) throw corrupt(directory, damage.describe());
      if (attempt === MAX_ATTEMPTS) return { undecided: damage };
    }
  } finally {
    file.close();
  }
}

/** As `look`, where LMDB keeps the pages of every state since a snapshot: damage is damage, whatever a writer does meanwhile. */
function lookHeld<Result>(directory: string, run: (parts: CheckParts) => Result): Result | null {
  const finding = look(directory, run);
  if ('undecided' in finding) throw corrupt(directory, finding.undecided.describe());
  return finding.result;
}

/** The state after the last transaction. Without both meta pages an older one would be taken for it. */
function newestMeta(file: PageFile, directory: string): Meta {
  const metas = file.readMetas();
  const [first, second] = metas;
  if (first == null || second == null || first.pageBytes !== second.pageBytes) {
    const damaged = metas.findIndex((meta) => meta === null);
    const what = `its page ${Math.max(0, damaged)} is no meta page of LMDB's (${file.sizeBytes} bytes)`;
    throw corrupt(directory, what);
  }
  return first.transaction >= second.transaction ? first : second;
}

function walkAll(parts: CheckParts, scopeOf: (database: string) => WalkScope): void {
  const { file, meta, damage } = parts;
  const use = new PageUse(meta.lastPage + 1, damage);
  for (const [name, tree] of namedTrees(parts, use)) {
    const scope = { ...scopeOf(name), ordered: RECORDS.test(name) };
    new TreeWalk({ ...parts, tree, name, scope, use }).run();
  }
  const lists: FreeList[] = [];
  new TreeWalk({
    ...parts,
    tree: meta.freeTree,
    name: 'the free pages',
    scope: {},
    use,
    onNode: ({ value, overflow }) => lists.push({ inLeaf: Buffer.from(value), overflow }),
  }).run();
  if (damage.isAny) return;
  for (const { inLeaf, overflow } of lists) {
    use.checkFree(
      overflow === null ? inLeaf : file.pages(overflow, meta.pageBytes).subarray(PAGE_HEADER_BYTES),
    );
  }
}

/** The named databases, by name. */
function namedTrees(parts: CheckParts, use?: PageUse): Map<string, Tree> {
  const trees = new Map<string, Tree>();
  new TreeWalk({
    ...parts,
    tree: parts.meta.mainTree,
    name: 'the names',
    scope: {},
    use,
    onNode: ({ key, tree }) => {
      if (tree !== null) trees.set(key.toString('latin1').replace(/\0$/, ''), tree);
    },
  }).run();
  return trees;
}

function corrupt(directory: string, what: string): LogError {
  return new LogError('LOG_CORRUPT', `the event log at ${directory} is damaged: ${what}; ${RULE}`);
}
