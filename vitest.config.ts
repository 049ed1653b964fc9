import { configDefaults, defineConfig } from 'vitest/config';

/** Specs that share one Kafka broker, which is started only when one of them runs. */
const KAFKA_SPECS = '**/*.kafka.spec.ts';

/**
 * Specs of minutes, which run by commands of their own: `npm run test:faults`, `npm run test:system`, `npm run test:long`.
 * A broker that is killed, or silent until deadlines pass, is most of a minute of waiting.
 */
const SLOW_SPECS = Object.entries({
  faults: ['test/faults/**', '**/kafka-faults.kafka.spec.ts'],
  system: ['test/system/**'],
  long: ['test/long/**'],
}).flatMap(([name, specs]) => (process.env.RETRACE_TESTS === name ? [] : specs));

export default defineConfig({
  resolve: { conditions: ['retrace-source', 'node'] },
  ssr: { resolve: { conditions: ['retrace-source', 'node'] } },
  test: {
    pool: 'forks',
    maxWorkers: 2,
    // Only what hangs shall end by these: a test of 20 s takes a minute on a machine that others use.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    // Bundled once, since Node can't load it: its imports have no file extensions (`libs/compute/src/testing/tfjs-gradients.ts`).
    deps: {
      optimizer: {
        ssr: { enabled: true, include: ['@tensorflow/tfjs-core/dist/register_all_gradients.js'] },
      },
    },
    projects: [
      {
        extends: true,
        test: {
          name: 'retrace',
          include: [
            'libs/**/src/**/*.spec.ts',
            'apps/**/src/**/*.spec.ts',
            'clients/**/src/**/*.spec.ts',
            'test/**/*.spec.ts',
            'scripts/**/*.spec.mjs',
          ],
          exclude: [...configDefaults.exclude, KAFKA_SPECS, ...SLOW_SPECS],
          globalSetup: ['scripts/store-template-setup.mjs'],
        },
      },
      {
        extends: true,
        test: {
          name: 'kafka',
          include: [`libs/${KAFKA_SPECS}`, `test/${KAFKA_SPECS}`],
          exclude: [...configDefaults.exclude, ...SLOW_SPECS],
          globalSetup: ['libs/log/kafka-broker/vitest-setup.mjs'],
        },
      },
    ],
  },
});
