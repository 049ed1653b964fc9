import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import tseslint from 'typescript-eslint';
import conventions from './eslint-conventions.mjs';

/** Tools that the tests of all workspaces share; they may be imported anywhere. */
const sharedTools = ['vitest', 'vite', 'fast-check'];

const workspaces = ['libs', 'apps', 'clients'].flatMap((folder) =>
  readdirSync(join(import.meta.dirname, folder))
    .map((name) => `${folder}/${name}`)
    .filter((path) => existsSync(join(import.meta.dirname, path, 'package.json'))),
);

/** Each workspace imports only what its own package.json declares: packages and other workspaces alike. */
const declaredImports = workspaces.map((path) => {
  const manifest = JSON.parse(readFileSync(join(import.meta.dirname, path, 'package.json'), 'utf8'));
  const declared = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'].flatMap(
    (kind) => Object.keys(manifest[kind] ?? {}),
  );
  const names = [...declared, manifest.name, ...sharedTools].map((name) => name.replaceAll('/', '\\/'));
  const undeclared = `/^(?!\\.|\\/|node:|(?:${names.join('|')})(?:\\/|$))[@\\w]/`;
  const imports = [
    'ImportDeclaration',
    'ExportNamedDeclaration',
    'ExportAllDeclaration',
    'ImportExpression',
    'TSImportType',
  ];
  return {
    files: [`${path}/**/*.{ts,tsx,mts,mjs,js}`],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: `:matches(${imports.join(', ')})[source.value=${undeclared}]`,
          message: `Declare what is imported in ${path}/package.json.`,
        },
      ],
    },
  };
});

// All other rules are in `.oxlintrc.json`: oxlint checks them in a fifth of the time.
export default [
  {
    ignores: [
      '**/dist/**',
      '**/node_modules/**',
      'stand-ins/**',
      '**/.cache/**',
      '.retrace/**',
      'apps/dashboard/src/api/schema.d.ts',
    ],
  },
  {
    files: ['**/*.{ts,tsx,mts,mjs,js}'],
    languageOptions: { parser: tseslint.parser },
    // Directives are for rules of oxlint, too.
    linterOptions: { reportUnusedDisableDirectives: 'off' },
    plugins: { conventions },
    rules: {
      'conventions/constant-case': 'error',
      'conventions/docstring': 'error',
      'conventions/plain-template': 'error',
      // That of oxlint finds assignments useless that the next turn of a loop reads.
      'no-useless-assignment': 'error',
    },
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    rules: { 'conventions/private-keyword': 'error' },
  },
  ...declaredImports,
];
