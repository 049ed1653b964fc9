import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['retrace-source', 'node', 'import', 'module', 'default'] },
  ssr: { resolve: { conditions: ['retrace-source', 'node', 'import', 'module', 'default'] } },
  test: {
    include: ['libs/**/src/**/*.spec.ts', 'apps/**/src/**/*.spec.ts', 'test/**/*.spec.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
