import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import js from '@eslint/js';
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

// Rules that need types are in `.oxlintrc.json`: oxlint checks them in a fifth of the time.
export default tseslint.config(
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
  js.configs.recommended,
  ...tseslint.configs.strict,
  ...tseslint.configs.stylistic,
  {
    plugins: { conventions },
    rules: {
      'conventions/constant-case': 'error',
      'conventions/docstring': 'error',
      'conventions/plain-template': 'error',
      'max-lines': ['error', { max: 300, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    rules: {
      'conventions/private-keyword': 'error',
      '@typescript-eslint/consistent-type-imports': 'off',
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-restricted-imports': [
        'error',
        {
          paths: [
            {
              name: '@tensorflow/tfjs',
              message:
                'Import @tensorflow/tfjs-core: the union package is not installed (stand-ins/README.md).',
            },
          ],
        },
      ],
    },
  },
  ...declaredImports,
  {
    files: ['**/*.spec.{ts,mjs}', '**/*.contract.ts', '**/testing/**', 'test/**', 'bench/**'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      // A `describe` block is one function, and cases of one subject are read together.
      'max-lines': 'off',
      'max-lines-per-function': 'off',
    },
  },
  {
    // A recipe is one literal.
    files: ['libs/config/src/recipes/**'],
    rules: { 'max-lines-per-function': 'off' },
  },
  {
    files: ['**/*.mjs'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        AbortController: 'readonly',
        AbortSignal: 'readonly',
        performance: 'readonly',
        URL: 'readonly',
        setTimeout: 'readonly',
        fetch: 'readonly',
      },
    },
  },
);
