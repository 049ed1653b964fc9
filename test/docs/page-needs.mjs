/**
 * Presumptions of a page or of one of its blocks, beside an empty project with the packages.
 *
 * @typedef {object} Needs
 * @property {boolean} [checkout] runs in a fresh copy of the repository instead of the project
 * @property {readonly string[]} [prepare] commands that the reader has run before
 * @property {Readonly<Record<string, string>>} [fills] what a reader fills in, as it is printed, and the command that prints it
 * @property {RegExp} [until] what a server says before it is stopped, where being up is not enough
 * @property {boolean} [stays] servers of the block stay up until the end of the page, as in terminals of their own
 */

/**
 * Presumptions of a page as a whole.
 *
 * @typedef {Needs & {
 *   readonly server?: boolean,
 *   readonly installs?: boolean,
 *   readonly set?: readonly string[],
 *   readonly blocks?: Readonly<Record<string, Needs>>,
 * }} PageNeeds
 *
 * `server`: a `retrace up --no-training` is up. `installs`: the page itself installs the packages. `set`: fields of every recipe (`RETRACE_SET`), which
 * make trainings short. `blocks`: what a block presumes beside its page, by its first line.
 */

/** A run that shows everything that runs have, in seconds. */
const SMALL = [
  'numUpdates=3',
  'collection.groupsPerRound=16',
  'evaluation.everyUpdates=2',
  'evaluation.numValidationEpisodes=10',
  'evaluation.numTestEpisodes=10',
];
const MINE = 'retrace recipes bandit-ppo > mine.json';
const ASK = 'retrace sql --json';
const first = (column) =>
  `${ASK} "SELECT ${column} AS value FROM runs ORDER BY started_at LIMIT 1" | jq -r .[0].value`;
const newest = (column) =>
  `${ASK} "SELECT ${column} AS value FROM runs ORDER BY started_at DESC LIMIT 1" | jq -r .[0].value`;
/** Turns a built-in recipe into another one. */
const recipe = (name, changes, file) =>
  `retrace recipes ${name} | jq '. * ${JSON.stringify(changes)}' > ${file}`;
/** Steps as conversations of AgentGym. */
const LAKES =
  'group_by(.episode_id)[] | {item_id: "frozen-lake_1", conversations: (map({from: "human", value: .observation}, {from: "gpt", value: .action}))}';
/** A file like those of OpenManus-RL. */
const PARQUET = `import pyarrow, pyarrow.parquet
turns = [{"from": "human", "value": "Go to the red ball."}, {"from": "gpt", "value": "Action:\\ngo to red ball 1"}]
pyarrow.parquet.write_table(pyarrow.table({"item_id": ["babyai_7"], "conversations": [turns]}), "train.parquet")`;
/** A model directory, of byte tokens. */
const MODEL = { model: null, policy: { model: './Qwen2.5-0.5B', maxPositions: 512 } };
/** So much imitation as takes seconds. */
const FEW = { numEpisodes: 32, numUpdates: 2, episodesPerUpdate: 16 };
const BYTES = { tokenizer: 'model', window: 'observation', maxNewTokens: 4 };

/** Values of placeholders that mean the same on every page. */
export const COMMON_FILLS = {
  '<run>': newest('run_id'),
};

/** @type {Readonly<Record<string, PageNeeds>>} */
export const PAGE_NEEDS = {
  'README.md': {
    installs: true,
    blocks: {
      'npm ci': { checkout: true, until: /update 2\b/ },
      'npm i ./retrace-*.tgz': { until: /update 4\b/ },
      'npx retrace sql "SELECT split, avg(success), count() FROM episodes GROUP BY split"': {
        prepare: [
          'mkdir rollouts',
          `echo '{"input": "1 + 2?", "output": "#### 3", "gts": "3", "score": 1.0, "step": 1}' > rollouts/1.jsonl`,
          // As docs/engines.md says, to which the block sends the reader.
          `pip install --quiet "$REPOSITORY/clients/python[engine]"`,
        ],
      },
      'npm start -- --no-training                              # a server for what other agents do': {
        checkout: true,
      },
    },
  },
  'docs/access.md': {
    server: true,
    fills: { 'retrace_…': `grep -o 'retrace_[A-Za-z0-9_-]*' "$PRINTED" | head -1` },
  },
  'docs/algorithms.md': {
    server: true,
    prepare: [
      recipe(
        'frozen-lake-grpo',
        { reward: { components: [{ reward: 'environment' }, { reward: 'lengthPenalty' }] } },
        'strict.json',
      ),
      'retrace train --recipe frozen-lake-grpo --updates 20',
      'retrace score --recipe strict.json --name strict',
    ],
    set: SMALL.slice(1),
    fills: { '<whatIfId>': `grep -o '"whatIfId":"[^"]*"' "$PRINTED" | tail -1 | cut -d '"' -f 4` },
  },
  'docs/compute.md': {
    prepare: [MINE],
    set: SMALL,
    blocks: {
      // Nothing of a backend that other pages use is removed.
      "npx retrace backend list             # every backend in the order of choice, and why each can or can't be used here":
        {
          prepare: ['SHARED_CACHE=$XDG_CACHE_HOME XDG_CACHE_HOME=$PWD/cache'],
        },
      'npx retrace train --recipe frozen-lake-ppo --set optimizer.dataParallel=2': {
        prepare: ['XDG_CACHE_HOME=$SHARED_CACHE'],
      },
    },
  },
  'docs/batches.md': { prepare: ['retrace train --recipe bandit-ppo'], set: SMALL, server: true },
  'docs/datasets.md': { prepare: ['retrace train --recipe bandit-ppo'], set: SMALL },
  'docs/engines.md': {
    checkout: true,
    prepare: ['(npx retrace engine torch --token-file token > worker.log 2>&1 &)'],
    set: SMALL,
    fills: { 'http://host:8100': 'echo http://127.0.0.1:8100' },
  },
  'docs/evaluation.md': {
    prepare: [
      'cp -r "$MODEL_DIRECTORY" Qwen2.5-0.5B-Instruct',
      recipe(
        'frozen-lake-ppo',
        {
          environment: 'crafting',
          context: BYTES,
          model: null,
          policy: { model: './Qwen2.5-0.5B-Instruct', maxPositions: 512 },
        },
        'my-textcraft.json',
      ),
      'retrace train --recipe my-textcraft.json --updates 1',
      'retrace train --recipe frozen-lake-ppo',
    ],
    set: SMALL,
    fills: { 'run:3f0c@40': `echo "run:$(${first('run_id')})@1"` },
  },
  'docs/forks.md': {
    prepare: ['retrace train --recipe frozen-lake-ppo'],
    set: SMALL,
    fills: {
      '<id>': `${ASK} "SELECT episode_id FROM steps WHERE step = 3 LIMIT 1" | jq -r .[0].episode_id`,
    },
  },
  'docs/how-to/ask-in-sql.md': { prepare: ['retrace train --recipe bandit-ppo'], set: SMALL, server: true },
  'docs/how-to/evaluate-a-policy.md': { server: true },
  'docs/how-to/record-episodes.md': { server: true },
  'docs/how-to/replay-an-update.md': {
    prepare: ['retrace train --recipe bandit-ppo'],
    set: SMALL,
    server: true,
  },
  'docs/how-to/train-elsewhere.md': {
    prepare: ['retrace train --recipe bandit-ppo'],
    set: SMALL,
    server: true,
  },
  'docs/how-to/train.md': { set: SMALL, server: true },
  'docs/import.md': {
    prepare: [
      'mkdir rollouts',
      `echo '{"input": "1 + 2?", "output": "#### 3", "gts": "3", "score": 1.0, "step": 1}' > rollouts/1.jsonl`,
      `python3 -c '${PARQUET}'`,
      `echo '{"schema_version": "ATIF-v1.6", "session_id": "s-1", "agent": {"name": "a", "version": "1"}, "steps": [{"step_id": 1, "source": "user", "message": "Hello?"}, {"step_id": 2, "source": "agent", "message": "Hello."}]}' > trace.json`,
      'retrace train --recipe bandit-ppo --data-dir ./other',
      'retrace export --run latest --output run.arrow --data-dir ./other',
    ],
    set: SMALL,
    blocks: {
      'npx retrace import lakes.jsonl --environment frozen-lake --verify': {
        prepare: [
          'retrace collect --environment frozen-lake --policy expert --episodes 8 --data-dir ./lakes',
          `${ASK} --data-dir ./lakes "SELECT episode_id, observation, action FROM steps ORDER BY episode_id, step" | jq -c '${LAKES}' > lakes.jsonl`,
        ],
      },
    },
  },
  'docs/metrics.md': { set: SMALL },
  'docs/models.md': {
    // A random model earns nothing, of which the third update would complain.
    set: [...SMALL, 'numUpdates=2'],
    prepare: [
      'cp -r "$MODEL_DIRECTORY" Qwen2.5-0.5B',
      recipe(
        'frozen-lake-imitation',
        { name: 'my-sft', context: BYTES, ...MODEL, imitation: FEW },
        'my-sft.json',
      ),
      recipe('frozen-lake-ppo', { name: 'my-rl', context: BYTES, ...MODEL }, 'my-rl.json'),
    ],
    fills: { 'run:3f0c@40': `echo "run:$(${newest('run_id')})@1"` },
    blocks: {
      "npx retrace save-policy ./out                  # transformers loads it: AutoModelForCausalLM.from_pretrained('./out')":
        {
          prepare: [
            recipe(
              'frozen-lake-ppo',
              {
                name: 'adapters',
                context: BYTES,
                ...MODEL,
                policy: { ...MODEL.policy, lora: { rank: 4, alpha: 8, targets: ['q_proj'] } },
              },
              'adapters.json',
            ),
            'retrace train --recipe adapters.json',
          ],
        },
    },
  },
  'docs/off-policy-evaluation.md': {
    prepare: [
      recipe(
        'bandit-ppo',
        { reward: { components: [{ reward: 'environment' }, { reward: 'lengthPenalty' }] } },
        'with-length.json',
      ),
      'retrace train --recipe bandit-ppo --seed 2',
      'retrace train --recipe bandit-ppo',
      'retrace score --recipe with-length.json --name with-length',
    ],
    fills: { '<other run>': first('run_id') },
  },
  'docs/operations.md': {
    set: SMALL,
    blocks: {
      "export AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=…        # or a profile, or the machine's role": {
        // The page's server has another directory's checkpoints.
        prepare: ['export RETRACE_DATA_DIR=./on-s3'],
        fills: {
          'AWS_ACCESS_KEY_ID=…': 'echo AWS_ACCESS_KEY_ID=$S3_KEY_ID',
          'AWS_SECRET_ACCESS_KEY=…': 'echo AWS_SECRET_ACCESS_KEY=$S3_SECRET',
          'http://minio:9000': 'echo $S3_ENDPOINT',
          's3://bucket/prefix': 'echo s3://$S3_BUCKET/docs',
        },
      },
    },
    server: true,
    fills: {
      '<queueId>': `curl -s localhost:8787/api/queue -H 'content-type: application/json' -d '{"recipe": "bandit-ppo"}' | jq -r .queued[-1].queueId`,
    },
  },
  'docs/policy-losses.md': { set: SMALL },
  'docs/proxy.md': {
    checkout: true,
    blocks: {
      'npm start -- --no-training                                     # Retrace, at http://127.0.0.1:8787': {
        stays: true,
      },
    },
  },
  'docs/python.md': { checkout: true },
  'docs/recording.md': {
    checkout: true,
    blocks: {
      'npm start -- --no-training                     # without the option it also trains': { stays: true },
    },
  },
  'docs/rewards.md': {
    set: SMALL,
    prepare: [
      'retrace train --recipe frozen-lake-ppo',
      'retrace score --recipe frozen-lake-ppo',
      recipe(
        'frozen-lake-ppo',
        { reward: { components: [{ reward: 'environment' }, { reward: 'lengthPenalty' }] } },
        'mine.json',
      ),
    ],
  },
  'docs/serve.md': {
    set: SMALL,
    prepare: ['cp -r "$MODEL_DIRECTORY" Qwen2.5-0.5B', 'retrace train --recipe bandit-ppo'],
    fills: { '3f2a --policy-version 40': `echo "$(${newest('run_id')}) --policy-version 1"` },
  },
  'docs/store.md': {
    server: true,
    set: SMALL,
    prepare: ['retrace train --recipe bandit-ppo'],
    fills: {
      'param_run=…': `echo "param_run=$(${newest('run_id').replace('retrace sql', 'retrace sql --data-dir .')})"`,
    },
  },
  'docs/traces.md': { fills: { 'retrace_…': 'echo retrace_0' } },
  'docs/training-data.md': {
    set: SMALL,
    prepare: [
      'retrace train --recipe frozen-lake-ppo',
      'retrace dataset create good-episodes --format conversations --sql "SELECT run_id, episode_id FROM episodes WHERE split = \'train\'"',
      'retrace recipes frozen-lake-ppo > mine.json',
    ],
    fills: { '01a20f39': first('run_id') },
  },
  'docs/tutorial.md': {
    checkout: true,
    fills: {
      '01a20705-814a-78c1-a344-2d599a48a5d3': first('run_id').replace(
        'retrace sql',
        'retrace sql --data-dir ./tutorial',
      ),
    },
    blocks: {
      'npm ci': { until: /run ended: finished/ },
      'npx retrace score --data-dir ./tutorial --recipe bandit-ppo': {
        prepare: [
          `$PRINT_BLOCK "import { defineReward, wholeNumber } from '@retrace/rewards'" > short-answers.mjs`,
          `(npx retrace recipes bandit-ppo; echo "{$($PRINT_BLOCK '"name": "bandit-short"')}") | jq -s '.[0] * .[1]' > mine.json`,
        ],
      },
      'npm run typecheck': {
        prepare: [
          'mkdir libs/environments/src/larger-number',
          `$PRINT_BLOCK "import type { Environment, Observation, ResetOptions, StepResult }" > libs/environments/src/larger-number/larger-number.ts`,
          `$PRINT_BLOCK "import { describeEnvironmentContract }" > libs/environments/src/larger-number/larger-number.spec.ts`,
          `echo "export { largerNumber } from './larger-number/larger-number.js';" >> libs/environments/src/index.ts`,
        ],
      },
    },
  },
};
