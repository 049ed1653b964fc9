import { dirname, join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { root } from '../../scripts/run-tool.mjs';
import { readBlocks } from './blocks.mjs';
import { unrunReasonOf } from './unrun-blocks.mjs';

/** Where a reader saves a block, for those that import files beside them. */
const SAVED_AS: Readonly<Record<string, string>> = {
  "import { deriveSeed, Pcg32 } from '@retrace/random';":
    'libs/environments/src/larger-number/larger-number.ts',
  "import { describeEnvironmentContract } from '../testing/environment-contract.js';":
    'libs/environments/src/larger-number/larger-number.spec.ts',
};

/** Declarations of an earlier block of the page, by the first line of the block that needs them. */
const EARLIER: Readonly<Record<string, string>> = {
  "const table = await retrace.query('SELECT model, avg(generation_ms) FROM steps GROUP BY model'); // Arrow; needs apache-arrow":
    "import { Retrace } from '@retrace/client';\nconst retrace = new Retrace({ url: 'http://x' });\nconst run = await retrace.startRun({ name: 'x' });\n",
};

it('TypeScript of the pages has no type error, as it is printed', () => {
  const blocks = readBlocks().filter((block) => block.language === 'ts' && unrunReasonOf(block) === null);
  const files = new Map(
    blocks.map(({ text }, i) => {
      const [begins] = text.split('\n');
      return [join(root, SAVED_AS[begins] ?? `test/docs/block-${i}.ts`), `${EARLIER[begins] ?? ''}${text}`];
    }),
  );
  expect(files.size).toBe(12);
  const { config } = ts.readConfigFile(join(root, 'tsconfig.base.json'), ts.sys.readFile) as {
    config: object;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const host = ts.createCompilerHost({ ...options, noEmit: true });
  const { readFile, fileExists, getSourceFile } = host;
  const folders = new Set([...files.keys()].map((path) => dirname(path)));
  host.directoryExists = (path) => folders.has(path) || ts.sys.directoryExists(path);
  host.readFile = (path) => files.get(path) ?? readFile(path);
  host.fileExists = (path) => files.has(path) || fileExists(path);
  host.getSourceFile = (path, version) => {
    const text = files.get(path);
    return text === undefined ? getSourceFile(path, version) : ts.createSourceFile(path, text, version);
  };
  const settings = {
    ...options,
    noEmit: true,
    composite: false,
    incremental: false,
    skipLibCheck: true,
    types: ['node'],
    // A reader goes on with what a block declares.
    noUnusedLocals: false,
  };
  const program = ts.createProgram([...files.keys()], settings, host);
  const faults = [...files.keys()].flatMap((path) => {
    const file = program.getSourceFile(path);
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
  });
  expect(ts.formatDiagnostics(faults, { ...host, getNewLine: () => '\n' })).toBe('');
});
