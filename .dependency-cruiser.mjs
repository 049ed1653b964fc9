/** The layers of docs/architecture.md, enforced by `npm run layers`. */
export const SPEC = '(\\.spec\\.ts$|\\.contract\\.ts$|/testing/|/kafka-broker/|/s3-server/)';

/** The packages that only one folder may import, so that a driver is loaded only where it is used. */
const DRIVERS = [
  ['lmdb', '^node_modules/lmdb/', '^libs/log/src/lmdb/'],
  ['kafka', '^node_modules/(kafkajs|fzstd|@bokuweb/zstd-wasm)/', '^libs/log/src/kafka/'],
  ['chdb', '^node_modules/(chdb|lz4-napi)/', '^libs/store-server/src/'],
  ['clickhouse', '^node_modules/@clickhouse/', '^libs/store/src/client/'],
  ['parquet', '^node_modules/hyparquet', '^libs/(datasets|rows)/src/'],
  ['rules', '^node_modules/(class-validator|class-transformer)/', '^libs/validation/src/'],
  ['aws', '^node_modules/@(aws-sdk|smithy)/', '^libs/policy/src/checkpoints/remote/'],
  [
    'arrow',
    '^node_modules/apache-arrow/',
    '^(libs/(store/src/(arrow|rows|run-file)|recording/src/body)|apps/trainer/src/(arrow|engine/torch))/',
  ],
  ['tfjs', '^node_modules/@tensorflow/', '^libs/compute/'],
];

/** Other libraries that each library may import. */
const ARROWS = {
  trajectory: [],
  algorithms: [],
  random: [],
  spool: [],
  log: ['trajectory'],
  store: ['trajectory', 'log', 'algorithms'],
  'store-server': ['store/src/user-sql', 'trajectory'],
  chat: ['trajectory/src/json'],
  jinja: [],
  agents: ['jinja', 'trajectory/src/json'],
  rows: [],
  endpoints: ['chat'],
  tinker: ['endpoints'],
  rewards: ['chat', 'endpoints', 'algorithms', 'trajectory', 'log', 'store', 'process/src/modules'],
  datasets: ['chat', 'trajectory', 'log', 'store', 'rows'],
  environments: ['trajectory', 'agents', 'random', 'algorithms/src/registry', 'rewards/src/text-metrics'],
  'environment-sources': ['config', 'environments', 'random', 'trajectory', 'process', 'rows'],
  importers: ['chat', 'trajectory', 'environments', 'environment-sources', 'recording', 'rows'],
  compute: [],
  policy: ['algorithms', 'compute', 'jinja'],
  config: ['agents', 'algorithms', 'chat', 'rewards', 'environments', 'validation'],
  'page-guard': [],
  validation: [],
  process: ['trajectory', 'log', 'validation'],
  recording: ['trajectory', 'log', 'store'],
  runs: [
    'trajectory',
    'log',
    'store',
    'policy',
    'config',
    'process',
    'environment-sources',
    'datasets',
    'rewards/src/scoring',
  ],
};

export const options = {
  tsPreCompilationDeps: true,
  doNotFollow: { path: 'node_modules' },
  exclude: { path: '(^|/)dist/' },
  tsConfig: { fileName: 'tsconfig.base.json' },
  enhancedResolveOptions: {
    exportsFields: ['exports'],
    conditionNames: ['retrace-source', 'import', 'node', 'default'],
  },
};

export default {
  forbidden: [
    {
      name: 'no-circular',
      comment: 'Circles of type-only imports are forbidden too.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    ...Object.entries(ARROWS).map(([library, allowed]) => ({
      name: `${library}-imports-${allowed.length === 0 ? 'no-library' : allowed.map((path) => path.split('/')[0]).join('-')}`,
      severity: 'error',
      from: { path: `^libs/${library}/`, pathNot: SPEC },
      to: {
        path: `^libs/(?!(${[library, ...allowed].join('|')})/)`,
        ...(library === 'algorithms' && { dependencyTypesNot: ['type-only'] }),
      },
    })),
    {
      name: 'pure-libraries-import-no-package',
      severity: 'error',
      from: {
        path: '^libs/(algorithms|random|rewards)/src',
        pathNot: `(^libs/rewards/src/scoring/|${SPEC})`,
      },
      to: { path: '^node_modules/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'reward-components-import-only-algorithms',
      comment: 'Recipes and environments read them: only scoring/ may open a log or a store.',
      severity: 'error',
      from: { path: '^libs/rewards/src/', pathNot: `(^libs/rewards/src/scoring/|${SPEC})` },
      to: {
        path: '^libs/(rewards/src/scoring/|(?!(rewards|algorithms)/))',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'only-its-users-import-scoring',
      severity: 'error',
      from: { path: '^libs/(?!(rewards|runs)/)' },
      to: { path: '^libs/rewards/src/scoring/' },
    },
    {
      name: 'only-codec-of-trajectory-imports-packages',
      severity: 'error',
      from: { path: '^libs/trajectory/src', pathNot: `(^libs/trajectory/src/codec/|${SPEC})` },
      to: { path: '^node_modules/' },
    },
    ...DRIVERS.map(([name, driver, folder]) => ({
      name: `only-its-folder-imports-${name}`,
      severity: 'error',
      from: { path: '^(libs|apps)/', pathNot: `(${folder}|${SPEC})` },
      to: { path: driver },
    })),
    {
      name: 'importers-import-only-types-of-recording',
      comment: 'Importers make records; writing them is for the caller.',
      severity: 'error',
      from: { path: '^libs/importers/' },
      to: { path: '^libs/recording/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'libs-never-import-apps',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: '^apps/' },
    },
    {
      name: 'clients-import-no-workspace',
      comment: 'A client is published by itself.',
      severity: 'error',
      from: { path: '^clients/' },
      to: { path: '^(libs|apps|stand-ins|scripts|test|bench)/' },
    },
    {
      name: 'proxy-imports-client-and-protocols-only',
      comment:
        'It records while Retrace is down, so it opens neither log nor store. The spool and the guard against foreign web pages import nothing.',
      severity: 'error',
      from: { path: '^apps/gateway/src/(http|proxy)/', pathNot: SPEC },
      to: { path: '^(libs/(?!(page-guard|chat|spool)/)|apps/gateway/src/serve/)' },
    },
    {
      name: 'gateway-loads-one-entry',
      severity: 'error',
      from: { path: '^apps/gateway/src/(http|serve)/' },
      to: { path: '^apps/gateway/src/proxy/' },
    },
    {
      name: 'libs-never-import-clients',
      comment: 'Protocols read chats with the readers that the client has; its types name what they read.',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: '^clients/(?!typescript/src/adapters/messages\\.ts$)', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'only-chat-reads-chats-as-the-client-does',
      severity: 'error',
      from: { path: '^libs/(?!chat/)' },
      to: { path: '^clients/' },
    },
    {
      name: 'libs-and-apps-never-import-scripts-or-tests',
      severity: 'error',
      from: { path: '^(libs|apps)/' },
      to: { path: '^(scripts|test|bench)/' },
    },
    {
      name: 'only-tests-start-a-broker',
      severity: 'error',
      from: { path: '^(libs|apps)/', pathNot: `(${SPEC}|\\.fixture\\.ts$)` },
      to: { path: '^libs/log/kafka-broker/' },
    },
    {
      name: 'stand-ins-are-for-dependencies-only',
      severity: 'error',
      from: { path: '^(libs|apps)/' },
      to: {
        path: '^(stand-ins/(?!openai-server/)|node_modules/(@tensorflow/tfjs|swagger-ui-dist|libphonenumber-js|@redocly/openapi-core)/)',
      },
    },
    {
      name: 'only-tests-start-the-stand-in-of-models',
      severity: 'error',
      from: { path: '^(libs|apps|clients)/', pathNot: `(${SPEC}|\\.fixture\\.ts$)` },
      to: { path: '^stand-ins/openai-server/' },
    },
    {
      name: 'apps-never-import-apps',
      severity: 'error',
      from: { path: '^apps/([^/]+)/', pathNot: '^apps/cli/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
  ],
  options,
};
