import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { listEnvironments } from '@retrace/environments';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { matrixProducts } from '../recipe/matrix-products.js';
import { recipeHash } from './recipe-hash.js';
import { isRecipe, listRecipes, parseRecipe, resolveRecipe } from './resolve-recipe.js';

function refusal(action: () => unknown): { code: string; message: string } {
  try {
    action();
  } catch (error) {
    return error as { code: string; message: string };
  }
  throw new Error('nothing was refused');
}

describe('resolveRecipe', () => {
  it.each(listRecipes().map(({ name }) => name))(
    'resolves the built-in recipe %s under its own name',
    (name) => {
      expect(resolveRecipe(name)).toMatchObject({ name });
    },
  );

  const making = listRecipes().filter(({ name }) => resolveRecipe(name).model);
  it.each(making.map(({ name }) => name))(
    'gives %s, which makes its model, products of small matrices, in float32',
    (name) => {
      const { matMulPrecision, largestMatrix } = matrixProducts(resolveRecipe(name));
      expect(matMulPrecision).toBe('float32');
      expect(largestMatrix).toBeLessThan(2 ** 17);
    },
  );

  it('gives the precision of matrix products, and refuses an unknown one', () => {
    const under = (precision: string) =>
      resolveRecipe('bandit-ppo', { assignments: [`compute.matMulPrecision=${precision}`] });
    expect(matrixProducts(under('bfloat16')).matMulPrecision).toBe('bfloat16');
    expect(refusal(() => under('float16')).message).toMatch(/compute\.matMulPrecision: got "float16"/);
  });

  it('applies overrides and assignments, reading values as JSON', () => {
    const recipe = resolveRecipe('frozen-lake-ppo', {
      seed: 7,
      numUpdates: 3,
      assignments: ['optimizer.learningRate=0.5', 'loss.dualClip=3', 'evaluation.everyUpdates=0'],
    });
    expect(recipe).toMatchObject({
      seed: 7,
      numUpdates: 3,
      optimizer: { learningRate: 0.5 },
      loss: { dualClip: 3 },
      evaluation: { everyUpdates: 0 },
    });
  });

  it('assigns optional fields that the recipe leaves out, in objects that it leaves out or has as null', () => {
    const assignments = [
      'optimizer.recomputeLayers=true',
      'loss.kl.adaptive.target=0.1',
      'loss.kl.adaptive.horizon=100',
      'loss.kl.coefficient=0.1',
      'loss.policyLossOptions.clipLow=0.1',
      'context.stopStrings=["."]',
    ];
    expect(resolveRecipe('frozen-lake-ppo', { assignments })).toMatchObject({
      optimizer: { recomputeLayers: true },
      loss: { kl: { adaptive: { target: 0.1, horizon: 100 } }, policyLossOptions: { clipLow: 0.1 } },
      context: { stopStrings: ['.'] },
    });
    const incomplete = ['policy.maxPositions=64'];
    expect(refusal(() => resolveRecipe('frozen-lake-ppo', { assignments: incomplete })).message).toBe(
      'Invalid recipe: "policy.model" is required',
    );
  });

  it('leaves all other objects as they are when an assignment is refused', () => {
    const assignments = ['advantage.options.__proto__.polluted=1'];
    refusal(() => resolveRecipe('frozen-lake-ppo', { assignments }));
    expect('polluted' in {}).toBe(false);
  });

  it('refuses a learning rate of a critic where there is none', () => {
    const assignments = ['optimizer.criticLearningRate=0.1'];
    expect(refusal(() => resolveRecipe('frozen-lake-grpo', { assignments })).message).toContain(
      'optimizer.criticLearningRate: got 0.1, must be null where loss.valueCoefficient is 0',
    );
  });

  it('names the known recipes for an unknown one', () => {
    const { code, message } = refusal(() => resolveRecipe('frozen-lake'));
    expect(code).toBe('RECIPE_UNKNOWN');
    expect(message).toMatch(
      /^Unknown recipe "frozen-lake"; use one of frozen-lake-ppo, .* or the path of a \.json or \.jsonc file$/,
    );
  });

  it('says that a recipe file does not exist', () => {
    expect(refusal(() => resolveRecipe('/nope/x.json'))).toMatchObject({
      code: 'RECIPE_UNKNOWN',
      message: 'Recipe file "/nope/x.json" not found',
    });
  });

  it.each([
    [
      'optimizer.learningRate=-1',
      'optimizer.learningRate: got -1, must be a number from 0 to 1: a step of 1 changes',
    ],
    ['model.headDim=15', 'model.headDim: got 15, must be even'],
    ['model.numHeads=3', 'model.numHeads: got 3, must be a multiple of model.numKeyValueHeads (2)'],
    ['advantage.estimator=gea', 'did you mean gae'],
    ['advantage.options={"gama":1}', 'gama'],
    ['advantage.estimator=retrace', 'its traces are those of "vtrace": use that'],
    [
      'advantage={"estimator":"grpo","options":{}}',
      'advantage grpo with loss ppo: valueCoefficient is 0.5, must be 0, as grpo has no critic to train',
    ],
    ['loss.valueCoefficient=0', 'valueCoefficient is 0, must be positive, as gae needs a trained critic'],
    ['reward.components=[{"reward":"enviroment"}]', 'did you mean environment'],
    ['reward.components=[]', 'reward.components: got []'],
    ['reward.components=[{}]', 'a component must have either reward or module'],
    ['reward.components=[{"reward":"goal","sources":[]}]', 'reward.components.0.sources: got []'],
    ['loss.policyLoss=gmppo', 'did you mean gmpo'],
    ['loss.policyLoss=crossEntropy', 'loss.policyLoss: got "crossEntropy", which ignores advantages'],
    ['loss.policyLossOptions={"clipHihg":1}', 'did you mean clipHigh'],
    ['loss.clipLow=0', 'policy loss ppo: clipLow is 0, must be a number in (0, 1]'],
    [
      'loss.rolloutCorrection={"proximal":"behavior","importance":{"level":"token","cap":2}}',
      'importance weights with the behavior policy as proximal',
    ],
    [
      'loss.rolloutCorrection={"importance":{"level":"token","cap":0}}',
      'cap is 0, must be a finite number > 0',
    ],
    [
      'loss.rolloutCorrection={"rejection":[{"statistic":"k1","scope":"token","low":2,"high":1}]}',
      'rules[0].low is 2, must not be more than high, 1',
    ],
    [
      'loss.rolloutCorrection={"rejection":[{"statistic":"k3","scope":"sequenceMax","low":1,"high":1}]}',
      'rules[0].low is 1, must be absent: k3 has one upper bound',
    ],
    ['loss.rolloutCorrection={"importence":null}', 'unknown field "loss.rolloutCorrection.importence"'],
    ['loss.kl.adaptive={"target":0.1,"horizon":10}', 'loss.kl.coefficient: got 0, must be positive'],
    ['loss.aggregation=sequenceMeanTokenSumNorm', '"loss.horizon" is required'],
    ['model=null', '"model" is required where "policy" is absent'],
    ['context.tokenizer=model', 'context.tokenizer: got "model", must be word or byte without policy.model'],
    ['context.window=all', 'context.window: got "all"'],
    ['evaluation.numValidationEpisodes=0', 'evaluation.numValidationEpisodes: got 0'],
  ])('refuses %s, naming field, value and rule', (assignment, expected) => {
    const { code, message } = refusal(() => resolveRecipe('frozen-lake-ppo', { assignments: [assignment] }));
    expect(code).toBe('RECIPE_INVALID');
    expect(message).toContain(expected);
  });

  it.each([
    ['gdpo', 'must be "loss" with advantage.estimator gdpo: it normalizes each reward component'],
    ['maxRl', 'must be "loss" with advantage.estimator maxRl: it divides by the mean return'],
    ['biLevelGae', 'must be "loss" with advantage.estimator biLevelGae: it sums the rewards of a turn'],
  ])('refuses a KL in the reward where %s would lose it or fail on it', (estimator, expected) => {
    const assignments = [
      `advantage=${JSON.stringify({ estimator, options: {} })}`,
      ...(estimator === 'biLevelGae' ? [] : ['loss.valueCoefficient=0']),
      ...['collection.groupSize=4', 'loss.kl.in=reward'],
    ];
    expect(resolveRecipe('frozen-lake-ppo', { assignments }).loss.kl?.coefficient).toBe(0);
    const { message } = refusal(() =>
      resolveRecipe('frozen-lake-ppo', { assignments: [...assignments, 'loss.kl.coefficient=0.1'] }),
    );
    expect(message).toContain(expected);
  });

  it('takes an environment of your own: a module, or servers, with paths relative to the working directory', () => {
    const withEnvironment = (environment: unknown, ...more: string[]) =>
      resolveRecipe('bandit-ppo', {
        assignments: [`environment=${JSON.stringify(environment)}`, 'context.tokenizer=byte', ...more],
      }).environment;
    expect(withEnvironment({ module: './mine.ts', options: { size: 3 } })).toMatchObject({
      module: resolve('mine.ts'),
      options: { size: 3 },
    });
    const server = { protocol: 'retrace', command: ['python', 'game.py', '{port}'], numServers: 2 };
    expect(withEnvironment({ name: 'game', server })).toMatchObject({
      name: 'game',
      server: { ...server, directory: resolve('.') },
    });
    for (const [environment, rule] of [
      [{}, 'environment: must have either module or server'],
      [
        { module: 'a.ts', name: 'a' },
        'environment.name: got "a", must be absent with environment.module, which has its own',
      ],
      [{ server }, '"environment.name" is required with environment.server'],
      [
        { name: 'a', server: { protocol: 'retrace' } },
        'environment.server: must have either urls or command',
      ],
      [
        { name: 'a', server: { protocol: 'http', urls: [] } },
        'environment.server.protocol: got "http", must be',
      ],
      [
        { name: 'a', server: { protocol: 'retrace', urls: ['localhost:1'] } },
        'must be an address with http or https',
      ],
      [
        { name: 'a', server: { ...server, command: ['game'] } },
        'environment.server.command: got ["game"], must contain {port}',
      ],
      [{ name: 'a', server: { ...server, firstPort: 65_535 } }, 'with 2 servers the last port exceeds 65535'],
      [
        { name: 'a', server: { ...server, family: 'maze' } },
        'must be absent where environment.server.protocol is "retrace"',
      ],
      [{ module: 'a.ts', modul: 1 }, 'unknown field "environment.modul"'],
    ] as const) {
      expect(() => withEnvironment(environment)).toThrow(rule);
    }
    expect(() => withEnvironment({ name: 'game', server }, 'context.tokenizer=word')).toThrow(
      'context.tokenizer: got "word", must be model (with policy.model) or byte',
    );
  });

  it('refuses GiGPO where the environment offers no anchors, and similar anchors for estimators that read none', () => {
    const gigpo = 'advantage={"estimator":"gigpo","options":{},"anchorSimilarity":0.9}';
    expect(resolveRecipe('frozen-lake-grpo', { assignments: [gigpo] }).environment).toBe('frozen-lake');
    const { code, message } = refusal(() => resolveRecipe('memory-bandit-grpo', { assignments: [gigpo] }));
    expect(code).toBe('RECIPE_INVALID');
    const withAnchors = listEnvironments().flatMap(({ name, offersAnchors }) =>
      offersAnchors ? [name] : [],
    );
    expect(withAnchors).toContain('frozen-lake');
    expect(withAnchors).not.toContain('memory-bandit');
    expect(message).toContain(
      `environment: got "memory-bandit", must be one that offers anchors (${withAnchors.join(', ')}) with advantage.estimator gigpo`,
    );
    const other = gigpo.replace('gigpo', 'grpo');
    expect(refusal(() => resolveRecipe('memory-bandit-grpo', { assignments: [other] })).message).toContain(
      'advantage.anchorSimilarity: got 0.9, must be absent with advantage.estimator grpo',
    );
  });

  it('refuses bootstrapTruncated where no critic gives values, and maskTruncated where pairs are trained', () => {
    const off = 'advantage.bootstrapTruncated=false';
    expect(resolveRecipe('frozen-lake-ppo', { assignments: [off] }).advantage.bootstrapTruncated).toBe(false);
    expect(refusal(() => resolveRecipe('frozen-lake-grpo', { assignments: [off] })).message).toContain(
      'advantage.bootstrapTruncated: got false, must be absent with advantage.estimator grpo: it reads no values of a critic',
    );
    const masked = ['loss.maskTruncated=true'];
    expect(resolveRecipe('frozen-lake-grpo', { assignments: masked }).loss.maskTruncated).toBe(true);
    expect(refusal(() => resolveRecipe('frozen-lake-dpo', { assignments: masked })).message).toContain(
      'loss.maskTruncated: got true, must be false or absent with a preference',
    );
  });

  it('takes top-k and top-p in collection only where nothing reads the logprobs of who acted', () => {
    const cut = ['collection.topK=5', 'collection.topP=0.9'];
    const resolve = (algorithm: string) => resolveRecipe('frozen-lake-grpo', { algorithm, assignments: cut });
    for (const algorithm of ['filtered-imitation', 'best-of-n'])
      expect(resolve(algorithm).collection).toMatchObject({ topK: 5, topP: 0.9 });
    for (const algorithm of ['grpo', 'ppo', 'vtrace', 'dpo']) {
      const { message } = refusal(() => resolve(algorithm));
      expect(message).toContain('collection.topK: got 5, must be 0 with advantage.estimator');
      expect(message).toContain('collection.topP: got 0.9, must be 1 with advantage.estimator');
    }
    expect(
      resolveRecipe('frozen-lake-grpo', { assignments: ['collection.topK=0', 'collection.topP=1'] })
        .collection.topP,
    ).toBe(1);
  });

  it('takes optimizer steps of a critic on each engine, and refuses them where it has no weights or optimizer of its own', () => {
    const own = ['model.valueTrunk=own', 'optimizer.criticLearningRate=0.001'];
    const critic = 'optimizer.critic={"numWarmupUpdates":2,"epochs":4}';
    const resolve = (...assignments: string[]) => resolveRecipe('frozen-lake-ppo', { assignments });
    expect(resolve(...own, critic).optimizer.critic).toMatchObject({ numWarmupUpdates: 2, epochs: 4 });
    expect(refusal(() => resolve(critic)).message).toContain(
      'optimizer.critic: needs model.valueTrunk "own" and optimizer.criticLearningRate, or must be null',
    );
    expect(refusal(() => resolve(own[1], critic)).message).toContain('needs model.valueTrunk "own", or must');
    const torch = 'engine={"kind":"torch"}';
    expect(resolve(...own, critic, torch).optimizer.critic).toMatchObject({ numWarmupUpdates: 2 });
    expect(refusal(() => resolve(...own, 'optimizer.critic={"warmup":2}')).message).toContain(
      'unknown field "optimizer.critic.warmup"',
    );
  });

  it('refuses GiGPO on servers that identify no states, naming the field that mends it', () => {
    const recipe = (server: object, estimator = 'gigpo') =>
      resolveRecipe('textcraft-gigpo', {
        assignments: [
          `environment.server=${JSON.stringify({ urls: ['http://127.0.0.1:1'], ...server })}`,
          `advantage={"estimator":"${estimator}","options":{}}`,
        ],
      });
    const fix =
      'environment.server.anchor: got "environment", must be "observation" with advantage.estimator gigpo';
    for (const server of [{ protocol: 'agentgym', family: 'textcraft' }, { protocol: 'openenv' }]) {
      expect(refusal(() => recipe(server)).message).toContain(fix);
      expect(refusal(() => recipe({ ...server, anchor: 'environment' })).message).toContain(fix);
      expect(recipe({ ...server, anchor: 'observation' }).advantage.estimator).toBe('gigpo');
      expect(recipe(server, 'grpo').advantage.estimator).toBe('grpo');
    }
    // Whether a server of Retrace's own protocol does is known when it is asked.
    expect(recipe({ protocol: 'retrace' }).advantage.estimator).toBe('gigpo');
  });

  it.each(['straightThrough', 'biasCorrection'])(
    'refuses %s for a KL in the reward, which has no gradient',
    (field) => {
      const assignments = [`loss.kl.${field}=true`, 'loss.kl.coefficient=0.1'];
      expect(resolveRecipe('frozen-lake-ppo', { assignments }).loss.kl).toHaveProperty(field, true);
      const inReward = [...assignments, 'loss.kl.in=reward'];
      expect(refusal(() => resolveRecipe('frozen-lake-ppo', { assignments: inReward })).message).toContain(
        `loss.kl.${field}: got true, must be false or absent where loss.kl.in is "reward"`,
      );
    },
  );

  it.each([
    [
      'loss.rolloutCorrection={"proximal":"interpolated","vetoBelow":0.1}',
      'loss.rolloutCorrection.proximal: got "interpolated", must be "recomputed" or "behavior"',
    ],
    [
      'loss.rolloutCorrection={"proximal":"interpolated","importance":{"level":"token","cap":2}}',
      'importance weights with an interpolated proximal policy',
    ],
    ['loss.topEntropyFraction=0', 'loss.topEntropyFraction'],
    ['advantage.resampling={"rule":"powr"}', 'advantage.resampling.rule'],
  ])('refuses %s', (assignment, message) => {
    expect(refusal(() => resolveRecipe('frozen-lake-grpo', { assignments: [assignment] })).message).toContain(
      message,
    );
  });

  it('refuses a share of high-entropy tokens with gmpo, whose sequences have one loss', () => {
    const assignments = ['loss.topEntropyFraction=0.2', 'loss.policyLoss=gmpo'];
    expect(refusal(() => resolveRecipe('frozen-lake-grpo', { assignments })).message).toContain(
      'loss.topEntropyFraction: got 0.2, must be null with loss.policyLoss gmpo',
    );
  });

  it.each([
    ['optimizer.learnngRate=1', 'unknown field "optimizer.learnngRate"; the fields here are learningRate'],
    ['optimizer', 'must be key=value'],
    ['loss.kl.adaptive.goal=1', 'unknown field "loss.kl.adaptive.goal"; the fields here are target, horizon'],
    ['constructor.prototype.seed=1', 'unknown field "constructor"'],
    ['advantage.options.__proto__.seed=1', 'unknown field "advantage.options.__proto__"'],
    ['nothing.at.all=1', 'unknown field "nothing"; the fields here are name, description'],
  ])('refuses the assignment %s', (assignment, expected) => {
    expect(refusal(() => resolveRecipe('frozen-lake-ppo', { assignments: [assignment] })).message).toContain(
      expected,
    );
  });
});

describe('a recipe file', () => {
  let directory = '';
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'retrace-recipe-'));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  it('names reward modules by paths relative to its directory', () => {
    const file = join(directory, 'mine.json');
    const recipe = resolveRecipe('bandit-ppo');
    const components = [{ module: './rewards/mine.mjs' }, { module: '/opt/theirs.mjs' }];
    writeFileSync(file, JSON.stringify({ ...recipe, reward: { ...recipe.reward, components } }));
    expect(resolveRecipe(file).reward.components.map(({ module }) => module)).toEqual([
      join(directory, 'rewards', 'mine.mjs'),
      '/opt/theirs.mjs',
    ]);
  });

  it('names a model to start from by a path relative to its directory', () => {
    const file = join(directory, 'mine.json');
    const { model: _, ...recipe } = resolveRecipe('memory-bandit-grpo');
    const lora = { rank: 4, alpha: 8, targets: ['q_proj', 'v_proj'] };
    const policy = { model: './qwen', maxPositions: 256, lora };
    const context = { ...recipe.context, tokenizer: 'model', maxNewTokens: 4 };
    writeFileSync(file, JSON.stringify({ ...recipe, policy, context }));
    expect(resolveRecipe(file).policy).toEqual({ ...policy, model: join(directory, 'qwen') });
    const refusals: [string, string][] = [
      ['policy.model=', 'policy.model: got ""'],
      ['policy.lora={"rank":0,"alpha":1,"targets":["q_proj"]}', 'policy.lora.rank: got 0'],
      ['policy.lora={"rank":1,"alpha":1,"targets":["lm_head"]}', 'policy.lora.targets: got ["lm_head"]'],
      ['policy.lora={"rank":1,"alpha":1,"targets":[]}', 'policy.lora.targets: got []'],
      ['context.tokenizer=word', 'context.tokenizer: got "word", must be "model" with policy.model'],
    ];
    for (const [assignment, message] of refusals) {
      expect(refusal(() => resolveRecipe(file, { assignments: [assignment] })).message).toContain(message);
    }
    writeFileSync(file, JSON.stringify({ ...resolveRecipe('bandit-ppo'), policy }));
    expect(refusal(() => resolveRecipe(file)).message).toContain('model: must be null or absent');
  });

  it('is read back as the recipe that was written', () => {
    const path = join(directory, 'mine.json');
    const recipe = resolveRecipe('bandit-ppo', { seed: 3 });
    writeFileSync(path, JSON.stringify(recipe));
    expect(recipeHash(resolveRecipe(path))).toBe(recipeHash(recipe));
  });

  it('may name its JSON Schema, which is not part of the recipe', () => {
    const path = join(directory, 'mine.json');
    const recipe = resolveRecipe('bandit-ppo');
    writeFileSync(path, JSON.stringify({ $schema: './recipe.schema.json', ...recipe }));
    expect(resolveRecipe(path)).toEqual(recipe);
  });

  it('is refused when it is not JSON, or not an object', () => {
    const path = join(directory, 'bad.json');
    writeFileSync(path, '{');
    expect(refusal(() => resolveRecipe(path)).message).toMatch(
      /^Recipe file ".*bad\.json" is not valid JSON: /,
    );
    writeFileSync(path, 'null');
    expect(refusal(() => resolveRecipe(path)).message).toBe('Invalid recipe: got null, must be an object');
  });
});

it('isRecipe: is true of a whole recipe only', () => {
  const plain = JSON.parse(JSON.stringify(resolveRecipe('bandit-ppo'))) as Record<string, unknown>;
  expect(isRecipe(plain)).toBe(true);
  for (const other of [null, 'bandit-ppo', [], {}, { ...plain, loss: null }, { ...plain, unknown: 1 }])
    expect(isRecipe(other)).toBe(false);
});

describe('parseRecipe', () => {
  it.each([null, [], 'frozen-lake-ppo'])('refuses %j, which is not an object', (value) => {
    expect(refusal(() => parseRecipe(value)).code).toBe('RECIPE_INVALID');
  });

  it('refuses an unknown field, so that a typing mistake is never ignored', () => {
    const plain = { ...resolveRecipe('bandit-ppo'), learningRate: 1 };
    expect(refusal(() => parseRecipe(plain)).message).toBe('Invalid recipe: unknown field "learningRate"');
  });

  it('names each field that is missing, once', () => {
    const { environment: _, context: __, optimizer, ...plain } = resolveRecipe('bandit-ppo');
    const { learningRate: ___, ...rest } = optimizer;
    const message = refusal(() => parseRecipe({ ...plain, optimizer: rest })).message;
    expect(message.match(/"\S+" is required/g)?.sort()).toEqual([
      '"context" is required',
      '"environment" is required',
      '"optimizer.learningRate" is required',
    ]);
  });
});

describe('recipeHash', () => {
  it('does not depend on the order of fields, and changes with any value', () => {
    const recipe = resolveRecipe('bandit-ppo');
    const reversed = parseRecipe(Object.fromEntries(Object.entries(recipe).reverse()));
    expect(recipeHash(reversed)).toBe(recipeHash(recipe));
    expect(recipeHash(resolveRecipe('bandit-ppo', { seed: 99 }))).not.toBe(recipeHash(recipe));
  });
});
