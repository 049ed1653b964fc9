/**
 * Trains on 10,000 episodes whose turns a model's server samples that hangs, breaks off, answers garbage, 10 MB, NaN, twice or late, and refuses
 * by 429 in storms (`chaos-model-server.mjs`): every update is made, every episode is in the store, whole or with the reason why it ended, no
 * slot is lost, memory is flat. About three minutes.
 *
 *   npm run test:long -- chaos-endpoint [-- --episodes 10000]
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { openBackend } from '@retrace/compute';
import { resolveRecipe } from '@retrace/config';
import { createTokenizer, plainPolicyText, saveHuggingFaceModel, Transformer } from '@retrace/policy';
import { startChaosModelServer } from '../support/chaos-model-server.mjs';
import { makeDataDirectory, runRetrace, startRetrace } from '../support/cli.mjs';
import { RoleMemory } from '../support/role-memory.mjs';

const { values } = parseArgs({ options: { episodes: { type: 'string', default: '10000' } } });
const NUM_UPDATES = 10;
const GROUP_SIZE = 4;
const NUM_SLOTS = 128;
const NUM_TURNS = 8;
const FAULT_FRACTION = 0.2;
const groupsPerRound = Math.ceil(Number(values.episodes) / NUM_UPDATES / GROUP_SIZE);
const numEpisodes = groupsPerRound * NUM_UPDATES * GROUP_SIZE;
const VOCAB_SIZE = createTokenizer('byte', []).vocabSize;
const TOKENS = Array.from({ length: VOCAB_SIZE }, (_, id) => id);

/** Pays for letters, since random ones are no actions of the environment. */
const REWARD = `export default {
  name: 'early-letters',
  description: 'share of the letters a to m',
  options: {},
  score: ({ steps }) => ({ scope: 'episode', value: steps.filter(({ action }) => /^[a-m]/.test(action)).length / 8 }),
};
`;

const data = makeDataDirectory();
const directory = mkdtempSync(join(tmpdir(), 'retrace-chaos-endpoint-'));
const server = await startChaosModelServer({ seed: 1, faultFraction: FAULT_FRACTION, tokenIds: TOKENS });

/** Runs a command that must succeed, and returns its output. */
async function retrace(...args) {
  const { code, stdout, stderr } = await runRetrace([...args, '--data-dir', data.path]);
  if (code !== 0) throw new Error(`retrace ${args[0]} exited with ${code}: ${stderr.slice(-2000)}`);
  return stdout;
}
const sql = async (query) => JSON.parse(await retrace('sql', query, '--format', 'json'));

/**
 * Saves a small model whose scores of all tokens are equal, whatever its adapters learn, since its head is next to zero. So the server needs no
 * model to sample as the policy does. The critic has something to learn.
 */
async function makeModel() {
  await openBackend({ prefer: ['wasm'] });
  const shape = { vocabSize: VOCAB_SIZE, hiddenSize: 16, numLayers: 1, numHeads: 2, numKeyValueHeads: 1 };
  const sizes = { headDim: 8, intermediateSize: 16, ropeTheta: 1e4, rmsNormEps: 1e-6, maxPositions: 512 };
  const head = { tieWordEmbeddings: false, lmHeadInitializerStd: 1e-30 };
  const model = Transformer.initialize(
    { ...shape, ...sizes, ...head, attentionBias: true, valueHead: false },
    1,
  );
  const path = join(directory, 'model');
  await saveHuggingFaceModel(path, model, { text: plainPolicyText(createTokenizer('byte', [])) });
  return path;
}

function writeRecipe(modelDirectory) {
  const { model: own, compute, ...base } = resolveRecipe('frozen-lake-ppo');
  void [own, compute];
  writeFileSync(join(directory, 'reward.mjs'), REWARD);
  // It has no model, so its logprobs are nobody's.
  const endpoint = {
    ...{ kind: 'vllm', url: server.url, timeoutMs: 500, maxRetries: 3 },
    maxLogprobDifference: null,
  };
  const recipe = {
    ...base,
    name: 'chaos-endpoint',
    environment: 'memory-bandit',
    numUpdates: NUM_UPDATES,
    context: { window: 'history', tokenizer: 'model', maxNewTokens: 1 },
    policy: {
      model: modelDirectory,
      maxPositions: 512,
      lora: { rank: 2, alpha: 4, targets: ['q_proj', 'v_proj'] },
    },
    reward: { ...base.reward, components: [{ module: './reward.mjs' }] },
    collection: {
      ...base.collection,
      ...{ groupsPerRound, groupSize: GROUP_SIZE, concurrentEpisodes: NUM_SLOTS, maxStaleness: 0, endpoint },
    },
    evaluation: { everyUpdates: 0, numValidationEpisodes: 0, numTestEpisodes: 0 },
  };
  const path = join(directory, 'recipe.json');
  writeFileSync(path, JSON.stringify(recipe));
  return path;
}

/** Trains as a user does, and watches the memory of each process. */
async function train(recipe) {
  const session = startRetrace(['train', '--recipe', recipe, '--data-dir', data.path]);
  await session.waitFor(/update 1 /, 300_000);
  const memory = new RoleMemory(session, { everyMs: 500 });
  const code = await session.ended;
  if (code !== 0) console.error(session.lines.slice(-20).join('\n'));
  return { code, ...(await memory.stop()) };
}

try {
  const recipe = writeRecipe(await makeModel());
  const startedAt = performance.now();
  const { code, isFlat, figures: memoryFigures } = await train(recipe);
  const seconds = (performance.now() - startedAt) / 1000;
  const endings = await sql(
    `SELECT end_reason AS reason, replaceRegexpAll(end_detail, '[0-9]+', 'N') AS detail, count() AS count,
            countIf(num_steps != ${NUM_TURNS}) AS numShort
     FROM episodes WHERE run_id = (SELECT run_id FROM runs WHERE name = 'chaos-endpoint') GROUP BY 1, 2 ORDER BY 3 DESC`,
  );
  const [{ numUpdates }] = await sql(
    "SELECT count() AS numUpdates FROM updates WHERE run_id = (SELECT run_id FROM runs WHERE name = 'chaos-endpoint')",
  );
  await retrace('verify');
  const total = endings.reduce((sum, { count }) => sum + Number(count), 0);
  const numWhole = endings.reduce(
    (sum, { reason, count }) => sum + (reason === 'terminated' ? Number(count) : 0),
    0,
  );
  // An episode that ended by itself has all its turns; every other one says why it did not.
  const isEachExplained = endings.every(({ reason, detail, numShort }) =>
    reason === 'terminated' ? Number(numShort) === 0 : detail !== '',
  );
  console.log(
    `${total} episodes in ${seconds.toFixed(0)} s, ${numWhole} of them whole, ${numUpdates} updates`,
  );
  for (const { reason, detail, count } of endings) console.log(`  ${count} ${reason} ${detail}`);
  console.log(server.counts);
  const isGood =
    code === 0 && isFlat && isEachExplained && total === numEpisodes && Number(numUpdates) === NUM_UPDATES;
  const { requests, storm, right, ...faults } = server.counts;
  const figures = [
    { name: 'outcome', value: isGood ? 'passed' : 'failed' },
    { name: 'updates', value: Number(numUpdates) },
    { name: 'episodes in the store', value: total },
    { name: 'episodes with all their turns', value: numWhole },
    { name: 'requests', value: requests },
    { name: 'requests answered as they should be', value: right },
    { name: 'requests refused by 429', value: storm },
    ...Object.entries(faults).map(([fault, count]) => ({
      name: `requests with fault ${fault}`,
      value: count,
    })),
    { name: 'time', value: seconds, unit: 's' },
    ...memoryFigures,
  ];
  if (process.env.RETRACE_RESULT_FILE) {
    const title = "A run whose model's server hangs, breaks off and answers nonsense";
    writeFileSync(process.env.RETRACE_RESULT_FILE, JSON.stringify({ title, figures }));
  }
  process.exitCode = isGood ? 0 : 1;
} finally {
  server.close();
  data.remove();
  rmSync(directory, { recursive: true });
}
