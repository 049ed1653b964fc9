/** Layers of docs/architecture.md, enforced. */
const adapterDrivers = [
  ['lmdb', '^node_modules/lmdb/'],
  ['kafka', '^node_modules/(kafkajs|fzstd|@bokuweb/zstd-wasm)/'],
  ['chdb', '^node_modules/(chdb|lz4-napi)/'],
  ['clickhouse', '^node_modules/@clickhouse/'],
  ['arrow', '^node_modules/apache-arrow/'],
];

export default {
  forbidden: [
    {
      name: 'no-circular',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'pure-libs',
      comment: 'algorithms and rewards import nothing but types',
      severity: 'error',
      from: { path: '^libs/(algorithms|rewards)/src', pathNot: '\\.spec\\.ts$' },
      to: {
        path: '^(libs|apps|node_modules)/',
        pathNot: '^libs/(algorithms|rewards)/src',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'trajectory-core-imports-nothing',
      severity: 'error',
      from: {
        path: '^libs/trajectory/src',
        pathNot: '(^libs/trajectory/src/adapters/|\\.spec\\.ts$|contract\\.ts$|^libs/trajectory/src/codec/)',
      },
      to: { path: '^(libs/(?!trajectory)|apps|node_modules)/|^libs/trajectory/src/adapters/' },
    },
    ...adapterDrivers.map(([adapter, driver]) => ({
      name: `only-${adapter}-adapter-imports-its-driver`,
      severity: 'error',
      from: { path: '^(libs|apps)/', pathNot: `(^libs/trajectory/src/adapters/${adapter}/|\\.spec\\.ts$)` },
      to: { path: driver },
    })),
    {
      name: 'only-policy-imports-tfjs',
      severity: 'error',
      from: { path: '^(libs|apps)/', pathNot: '^libs/policy/' },
      to: { path: '^node_modules/@tensorflow/' },
    },
    {
      name: 'libs-never-import-apps',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: '^apps/' },
    },
    {
      name: 'apps-never-import-apps',
      severity: 'error',
      from: { path: '^apps/([^/]+)/', pathNot: '^apps/cli/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'environments-import-trajectory-types',
      comment: 'and the registry of names, which belongs to no algorithm',
      severity: 'error',
      from: { path: '^libs/environments/src', pathNot: '\\.spec\\.ts$' },
      to: { path: '^libs/(?!environments|trajectory|algorithms/src/registry/)' },
    },
    {
      name: 'config-imports-algorithms-rewards-environments',
      comment: 'whose names, options and abilities recipes are checked against',
      severity: 'error',
      from: { path: '^libs/config/src', pathNot: '\\.spec\\.ts$' },
      to: { path: '^libs/(?!config|algorithms|rewards|environments)' },
    },
    {
      name: 'scoring-imports-rewards-algorithms-trajectory',
      severity: 'error',
      from: { path: '^libs/scoring/src', pathNot: '\\.spec\\.ts$' },
      to: { path: '^libs/(?!scoring|rewards|algorithms|trajectory)' },
    },
    {
      name: 'policy-imports-algorithms-only',
      severity: 'error',
      from: { path: '^libs/policy/src', pathNot: '\\.spec\\.ts$' },
      to: { path: '^libs/(?!policy|algorithms)' },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/' },
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['retrace-source', 'import', 'node', 'default'],
    },
  },
};
