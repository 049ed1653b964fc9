/* Made from the docstrings of the recipe classes by `npm run reference`. */
/** Words on each field of a recipe, by its path. */
export const FIELD_WORDS: Readonly<Record<string, string>> = {
  name: 'Name of the recipe, shown with its runs: letters, digits, dots, underscores and dashes, the first a letter or digit.',
  description: 'One sentence for people.',
  seed: 'Seed of all that is drawn: initial weights, tasks, sampling, order of mini-batches.',
  numUpdates:
    'Number of policy updates, after imitation. A recipe has either this or `epochs`, from which it then follows.',
  epochs:
    'Number of times that training goes over the rows of `tasks`, or over the groups of `data` where all are stored: ⌊epochs · rows / `collection.groupsPerRound`⌋ updates.',
  environment: 'Name of a built-in environment, or an environment of your own.',
  'environment.name': 'Name under which the episodes of a server are stored; a module has its own.',
  'environment.module':
    'Path of your own JavaScript or TypeScript file whose default export is an environment, or a function that makes one of `options`; relative to the recipe file.',
  'environment.server': 'Servers that host the environment; null for a module.',
  'environment.server.protocol': "Protocol that the servers speak: Retrace's own, AgentGym's, or OpenEnv's.",
  'environment.server.family':
    'Environment of AgentGym that the servers host, such as `textcraft`; only with the protocol `agentgym`.',
  'environment.server.urls':
    'Addresses of running servers, such as `http://127.0.0.1:36001`; episodes are divided among them.',
  'environment.server.command':
    'Program and arguments that start a server; `{port}` is replaced by its port.',
  'environment.server.directory': "Folder in which `command` runs; without it, the recipe file's.",
  'environment.server.numServers': 'Number of servers that each collector starts with `command`.',
  'environment.server.firstPort':
    'Port of the first server, those of the others follow; without it, the ports are free ones.',
  'environment.server.startTimeoutMs': 'Longest time until a started server answers.',
  'environment.server.maxEpisodes': 'Most episodes at a time on one server; 1 for most OpenEnv servers.',
  'environment.server.recycleAfterEpisodes':
    'Number of episodes after which a started server is replaced by a fresh one; without it, never.',
  'environment.server.anchor':
    'Identity of a state, which GiGPO compares: what the `environment` says, or where it says nothing the text of the `observation`, as in verl-agent; that text must then hold no counters and no history.',
  'environment.server.maxSteps':
    'Most actions of an episode, after which it is truncated; where the server knows a limit, the smaller one counts.',
  'environment.server.numTasks':
    'Number of tasks to play, by index from 0; without it, as many as the server or its family says. Where tasks are made from seeds, the index is the seed.',
  'environment.options': "Options of the module's function, or of each reset of a server.",
  tasks: 'Tasks from files; null has the environment draw its own.',
  'tasks.train':
    'Files of training tasks; relative to the recipe file. Without `validation` and `test`, a tenth of the rows each is theirs, by hash of the row.',
  'tasks.validation': 'Files of validation tasks.',
  'tasks.test': 'Files of the tasks of the test after the last update.',
  'tasks.shuffle':
    'Whether each epoch has the training rows in a new order, which follows from seed and epoch; else they keep that of the files.',
  'tasks.taskField':
    'Dotted path of the field that the environment is reset with. By default the whole row for `question`; for others `env_kwargs`, or where a row lacks it `extra_info`.',
  'tasks.contents': 'Rows that the files had when the run began; filled in by `retrace train`.',
  'tasks.contents.numTrain': 'Rows for training.',
  'tasks.contents.numValidation': 'Rows for validation.',
  'tasks.contents.numTest': 'Rows for the test after the last update.',
  'tasks.contents.sha256': 'SHA-256 of all rows in their order, hex.',
  model: 'Model to make from random weights. A recipe has either `model` or `policy`.',
  'model.numLayers': 'Number of transformer layers.',
  'model.hiddenSize': 'Width of the residual stream.',
  'model.numHeads': 'Number of attention heads; a multiple of `numKeyValueHeads`.',
  'model.numKeyValueHeads':
    'Number of key and value heads, each shared by `numHeads / numKeyValueHeads` heads.',
  'model.headDim': 'Width of one attention head; even.',
  'model.intermediateSize': 'Width of the feed-forward layers.',
  'model.maxPositions': 'Longest context, in tokens.',
  'model.lmHeadInitializerStd':
    "Standard deviation of the output head's initial weights; a small one keeps the first policy near uniform.",
  'model.tieWordEmbeddings':
    'Whether the output head is the token embedding, with which a policy soon learns to repeat words of its context; `lmHeadInitializerStd` then has no effect.',
  'model.valueTrunk':
    "Whose hidden state the critic reads: the policy's (`shared`), or that of a transformer of its `own`.",
  policy: 'Existing model to start from.',
  'policy.model':
    "Directory in Hugging Face's format; relative to the recipe file, or with `--set` to the working directory.",
  'policy.maxPositions': 'Longest context, in tokens.',
  'policy.lora': 'New adapters to train; without `lora` and `adapter` all weights are trained.',
  'policy.lora.rank': 'Rank of the two factors of each adapter.',
  'policy.lora.alpha': 'The output of an adapter is multiplied by alpha/rank.',
  'policy.lora.targets': "Weight matrices that get an adapter, by their names in Hugging Face's format.",
  'policy.adapter':
    "Directory in peft's format, relative as `model`, whose adapters are trained further, in place of new ones.",
  'policy.chatTemplate': "Whether prompts are written with the directory's chat template, if it has one.",
  'policy.valueTrunk':
    "Whose hidden state the critic reads: the policy's (`shared`), or that of a transformer of its `own`.",
  'policy.critic':
    "Directory in Hugging Face's format, relative as `model`, of a model with the same architecture, from whose weights the critic's `own` transformer starts; null starts it from the policy's.",
  initFrom: 'Policy of another run to start from.',
  'initFrom.run':
    'The run: its id or a part of it, the name of a recipe for the newest run of it, or `latest` for the newest that has ended.',
  'initFrom.version':
    'The version: a number, `latest`, or `best` for the one with the highest validation success.',
  'initFrom.source': 'The version found; set when a run begins, and not by hand.',
  'initFrom.source.runId': 'Id of the run that published it.',
  'initFrom.source.policyVersion': 'The version.',
  'initFrom.source.sha256': 'SHA-256 of its weights, by which the checkpoint store names them.',
  'initFrom.source.sizeBytes': 'Size of the weights.',
  context: 'How an episode becomes tokens.',
  'context.window':
    'Context that the policy sees: only the current `observation`, or the `history` of the whole episode in one context with a KV cache.',
  'context.tokenizer':
    "Tokenizer: one token a `word` of the environment's vocabulary, one a `byte` of UTF-8, or the tokenizer of the `model` directory that `policy.model` names.",
  'context.maxNewTokens': 'Most tokens that the policy may sample in one turn.',
  'context.stopStrings':
    'A turn of several tokens ends as soon as its text contains one of these; the action is the text before it.',
  'context.whenFull':
    'Response to an observation that no longer fits into the context of its episode: the episode ends as truncated (`truncate`), or with window `history` the oldest turns leave the context until it is at most half full (`dropOldest`). A first observation that does not fit always ends its episode, before any action.',
  agent:
    'Prompts, action format and history of the agent; null shows observations as they are and takes turns as actions.',
  'agent.format': 'Name of the format in which the model writes its actions.',
  'agent.formatModule':
    'Path of your own file whose default export is an action format, `{ name, prompt, parse, write? }`, in place of `format`; templates show its `prompt` as `instructions`. Relative to the recipe file.',
  'agent.strict': 'Whether anything but the format is invalid; else an action is found where it can be.',
  'agent.maxActionsPerTurn':
    "Most actions of one turn, for formats of several; without it, the format's own number.",
  'agent.tools': 'Tools of the formats that call tools.',
  'agent.tools[].name': 'Name of the tool.',
  'agent.tools[].description': 'Description of the tool, for the agent.',
  'agent.tools[].parameters': 'JSON schema (draft 7) of the arguments, whose `type` is `object`.',
  'agent.tools[].action':
    "The environment's action for a call, with arguments in braces, as in `take {object} from {place}`; without it, the call as JSON.",
  'agent.toolsInChatTemplate': "Whether the model's chat template gets the tools, in its variable `tools`.",
  'agent.systemTemplate': "Jinja template of the system's message; null has none.",
  'agent.firstUserTemplate': 'Jinja template of the first message; null is the default one.',
  'agent.userTemplate': 'Jinja template of the messages after it; null is the one of the history policy.',
  'agent.summaryTemplate': 'Jinja template that asks for a summary; null is the default one.',
  'agent.taskMarker':
    'Text of the first observation after which its task follows, to the end of the line; without it, the whole first observation is the task.',
  'agent.showLegalActions': 'Whether prompts list the actions that the environment admits.',
  'agent.history': 'Turns of the past that prompts show; without it, none.',
  'agent.history.policy':
    'Only the current `observation`; the `full` conversation, which the context of window `history` continues; the `last` turns, written into one fresh message; or a `summary` by the model with the turns since.',
  'agent.history.length':
    'Number of turns that `last` shows, and after which the model writes the next `summary`.',
  'agent.history.keepThoughts':
    'Whether a `full` conversation keeps the thoughts of earlier turns; without them, each prompt begins a new sequence after what is kept.',
  'agent.history.trainSummaries': 'Whether the summaries are trained as actions are.',
  'agent.invalidAction': 'The response to turns that break the format.',
  'agent.invalidAction.execute':
    'Whether what a lenient format found in it is carried out; else the turn is lost.',
  'agent.invalidAction.tell': 'Whether the next prompt says what was wrong, in its placeholder `problem`.',
  'agent.invalidAction.endAfter':
    'Number of invalid turns in a row, by the format or by the environment, that end the episode; null never does.',
  'agent.maxTurns': 'Most turns of an episode; without it, as many as the environment has actions.',
  'agent.maxPromptTokens':
    'Most tokens of a prompt; without it, those that `maxPositions` and `context.maxNewTokens` leave.',
  'agent.maxEpisodeTokens':
    'Most tokens of an episode, prompts and turns together: it ends before a turn that could exceed them. Without it, any number.',
  'agent.truncation':
    'Response to a prompt that is too long: the episode ends (`endEpisode`); or the oldest turns leave it (`dropHistory`); or after them the start or the end of the observation does. What is still too long ends the episode.',
  'agent.module':
    'Path of your own file whose default export is an agent, which takes the place of the templates and the history; relative to the recipe file.',
  'agent.options': 'Options of the function that `module` or `formatModule` exports.',
  collection: 'How episodes are collected.',
  'collection.groupsPerRound': 'Groups in a round; one policy update trains on one round.',
  'collection.groupSize':
    'Episodes in a group; they share task and environment seed, and are sampled independently.',
  'collection.concurrentEpisodes':
    'Most episodes that a collector plays at the same time; changes speed and memory, never the result.',
  'collection.maxStaleness':
    'Policy versions by which the behavior policy may lag behind the policy being trained; 0 is synchronous training.',
  'collection.temperature': 'Temperature of sampling in training episodes.',
  'collection.topK':
    'Number of likeliest tokens that training episodes sample among; 0 is all. Only for algorithms that imitate (`filtered-imitation`, `best-of-n`, `awr`): for the others a token may leave what the policy can sample so, and has no ratio.',
  'collection.topP':
    'Probability of the likeliest tokens that training episodes sample among, as with `topK`; 1 is all.',
  'collection.resetTimeoutMs':
    'Longest time that an environment may take for a reset; after it the episode ends as truncated, without a step.',
  'collection.stepTimeoutMs':
    'Time limit of a single step: the episode that misses it keeps the steps before, and a late answer is discarded.',
  'collection.maxFailuresInARow':
    'Number of episodes in a row, in one collector, whose environment fails before the collector gives up.',
  'collection.endpoint': "Server that samples the policy's turns; null samples in the collector.",
  'collection.endpoint.kind':
    'Kind of the servers. `vllm` gets the adapters of `policy.lora`, or without them all weights, `sglang` all weights. `tinker` is the server of the run\'s engine "tinker", which has the weights.',
  'collection.endpoint.urls':
    'Addresses of servers that run, without a path, such as `http://127.0.0.1:8000`; episodes are divided among them.',
  'collection.endpoint.url':
    'Address of the only server that runs: the same as `urls` with one address, as recipes had it before there were several.',
  'collection.endpoint.command':
    'Program and arguments that start a server, in place of `urls`. `{port}` is replaced by its port, `{model}` by the directory of the weights, and `{name}` by the name under which it must serve them. It is started again for each policy version, which gets all weights so.',
  'collection.endpoint.numServers':
    'Number of servers that each collector starts with `command`, each on a free port.',
  'collection.endpoint.startTimeoutMs': 'Longest time until a server that `command` started answers.',
  'collection.endpoint.directory':
    'Directory that collector and servers all see, for the weights of new versions; relative to the working directory of the run. Without it, they lie beside the checkpoints.',
  'collection.endpoint.apiKeyVariable':
    "Name of the environment variable of the collector that holds the servers' API key; without it, none is sent.",
  'collection.endpoint.timeoutMs': 'Time limit of one request.',
  'collection.endpoint.maxRetries': 'Number of times that a request is made again after a temporary failure.',
  'collection.endpoint.deadlineMs':
    'Time limit of one turn, with all its requests, pauses, and waits for a server that is down or refuses for its rate limit.',
  'collection.endpoint.requestsPerMinute': 'Most requests a minute to one server; without it, any number.',
  'collection.endpoint.tokensPerMinute':
    'Most tokens a minute of one server, of prompts and of the longest answers; without it, any number.',
  'collection.endpoint.maxLogprobDifference':
    "Largest difference, in nats, between each server's logprobs of a fixed context and the policy's own, which is checked after each delivery of weights; a larger one ends the run. A server that computes in bfloat16 needs some 0.1. Null checks nothing.",
  'collection.truncatedSuccess':
    'Success of a truncated episode whose environment does not tell it: a `failure`, or `unknown`.',
  data: 'Data that updates are trained on; null is the episodes collected for the run.',
  'data.sources':
    'Sources of the groups of each update; without one that is `own`, nothing is collected for training.',
  'data.sources[].from':
    'Where the groups come from: collected for this run (`own`), another `run`, a `dataset`, or a SQL `query`.',
  'data.sources[].run':
    'For `run`: its id. All its groups for training are taken that were complete when this run began.',
  'data.sources[].dataset': 'For `dataset`: its name.',
  'data.sources[].query':
    'For `query`: one SELECT over the store, with the columns `run_id` and `episode_id`. It is run once, before the run begins.',
  'data.sources[].share': 'Share of the groups of an update, relative to the shares of the other sources.',
  'data.sources[].contents': 'Episodes that the source had when the run began; filled in by `retrace train`.',
  'data.sources[].contents.dataset': 'Name of the data set that lists them.',
  'data.sources[].contents.contentHash': 'SHA-256 of the list, hex.',
  'data.sources[].contents.numEpisodes': 'Episodes.',
  'data.sources[].contents.numGroups': 'Groups that they are in.',
  sampler: 'How groups are chosen for the next update; null is `fifo`, each once.',
  'sampler.rule':
    'The groups that came first (`fifo`) or last (`newest`), any (`uniform`), or by priority (`prioritized`).',
  'sampler.priority':
    "For `prioritized`: the mean `absoluteAdvantage` or `tdError` of a group's tokens in the last update with it, or an expression.",
  'sampler.priority.sql':
    'Expression over the columns of an episode that never change, such as `abs(return)` or `1 / num_steps`. A group has the mean over its episodes.',
  'sampler.priorityExponent': 'For `prioritized`: α, the exponent of the priority; 0 draws uniformly.',
  'sampler.importanceExponent':
    'For `prioritized`: β, the exponent of the weights π^−β that undo the preference; 1 undoes it, 0 leaves it.',
  'sampler.maxTimesSampled':
    'Updates that a group may be in. Null: one for groups collected for the run, any number for stored ones.',
  'sampler.zeroVariance':
    'Groups whose rewards are all equal: they are trained (`keep`), left out (`drop`), or replaced by others (`resample`, as in DAPO).',
  'sampler.maxResamplings':
    'For `resample`: how often groups are replaced before the update is filled up with groups without variance.',
  'sampler.curriculum': 'Success rates to favor; for the rules `uniform` and `prioritized`.',
  'sampler.curriculum.targetDifficulty': 'Failure rate of the tasks to favor.',
  'sampler.curriculum.leastWeight': 'Weight of the tasks that are furthest from it, relative to 1.',
  'sampler.curriculum.family':
    "Dotted path of the task's field that names its family, whose episodes count together; by default each task counts by itself.",
  'sampler.limiter':
    'Ratio of samples to collected groups; null leaves it to `collection.maxStaleness` and `maxTimesSampled`.',
  'sampler.limiter.samplesPerInsert': 'Times that a collected group is trained on, on average.',
  'sampler.limiter.minDiff': 'Least difference, in samples of groups.',
  'sampler.limiter.maxDiff': 'Largest difference, in samples of groups.',
  reward: 'The rewards of episodes.',
  'reward.components': 'Parts of the reward; the total is their weighted sum.',
  'reward.components[].reward': 'Name of a built-in component.',
  'reward.components[].module':
    'Path of your own file whose default export is a component; relative to the recipe file.',
  'reward.components[].name': "Name in the breakdown of the reward; without one, the component's own name.",
  'reward.components[].weight': 'Factor of this component in the total.',
  'reward.components[].options': 'Options of the component; those left out take its defaults.',
  'reward.components[].isUntilFilledIn':
    'Whether the option `until` of component `assigned` was left out, and filled in by `retrace train`.',
  'reward.components[].sources':
    'Data sources whose episodes this component scores; without it, those of every source.',
  'reward.allocation':
    'How rewards reach tokens: `perStep` leaves each on the last token of its step, the others spread the reward of the whole episode.',
  'reward.allocationGamma': 'Discount per action token of the rules `discounted` and `discountedLegacy`.',
  'reward.sourceField':
    "Dotted path of the task's field that names its data source; where a task lacks it, the environment is the source.",
  'reward.unlistedSource':
    'An episode whose source no component names is a `fault`, or is scored by the components without `sources` (`common`).',
  advantage: 'How rewards become advantages.',
  'advantage.estimator': 'Name of an advantage estimator.',
  'advantage.options': "The estimator's options; those left out take its defaults.",
  'advantage.anchorSimilarity':
    'Least similarity, 2·LCS/(sum of both lengths), at which two anchors of a group count as one state for GiGPO.',
  'advantage.bootstrapTruncated':
    'Whether the value after a cut is what a critic says of the final observation (`true`), or 0 (`false`), as in verl, which takes an episode that was cut for one that ended. For estimators with a critic.',
  'advantage.resampling':
    'How often each episode is trained, drawn after the advantages are known; null is once.',
  'advantage.resampling.rule':
    'Weight of an episode: |return|^power (`power`), 1 for the largest and the smallest return of the update and 0 for the others (`extremes`), or 0.4 for the largest and 0.1 for the others (`best`).',
  'advantage.resampling.power': 'Exponent of the rule `power`.',
  'advantage.shuffle':
    'Permutes the advantages within the batch: a control experiment, which must stop all learning.',
  loss: 'The loss.',
  'loss.policyLoss': 'Name of a policy loss.',
  'loss.policyLossOptions':
    'Options of the policy loss; those left out take its defaults, or for `ppo` the values of `clipLow`, `clipHigh` and `dualClip`.',
  'loss.clipLow': 'For `ppo`: the ratio is clipped below at 1 − clipLow.',
  'loss.clipHigh': 'For `ppo`: the ratio is clipped above at 1 + clipHigh.',
  'loss.dualClip': 'For `ppo`: dual clip bound c > 1 for negative advantages; null is off.',
  'loss.aggregation': 'How the losses of tokens become one number.',
  'loss.horizon': 'Fixed length, in tokens, that `sequenceMeanTokenSumNorm` divides by; it needs one.',
  'loss.topEntropyFraction':
    'Share of the trained tokens that get a policy gradient: those with the highest entropy at the start of the update. The others still count in denominators and statistics. Null is all of them.',
  'loss.maskTruncated':
    "Whether truncated episodes, which a limit of turns or tokens cut, stay out of the loss and its denominators: overlong filtering (DAPO; TRL's `mask_truncated_completions`). The advantages of the others still compare with their returns.",
  'loss.entropyCoefficient': 'Weight of the entropy bonus.',
  'loss.entropyFloor':
    'Controller that starts from `entropyCoefficient` and adapts it; null keeps it constant.',
  'loss.entropyFloor.target': 'Mean entropy of the action tokens to stay above, in nats.',
  'loss.entropyFloor.change': "Change of the bonus's weight after an update.",
  'loss.entropyFloor.maxCoefficient': 'Largest weight of the bonus.',
  'loss.valueCoefficient': "Weight of the critic's loss; 0 is no critic.",
  'loss.valueClip':
    "Largest change of a value within an update that the critic's loss rewards; null is no clipping.",
  'loss.kl': 'KL from a reference policy; null is none.',
  'loss.kl.coefficient': 'Weight of the KL; 0 is off.',
  'loss.kl.in':
    'Where the KL counts: in the `loss`, for the current policy, or in the `reward`, for the policy before the update.',
  'loss.kl.estimator': 'Estimator of the KL from logprobs of sampled tokens.',
  'loss.kl.adaptive': 'Controller that starts from `coefficient` and adapts it; null keeps it constant.',
  'loss.kl.adaptive.target': 'Mean KL from the reference policy to aim at, in nats per token.',
  'loss.kl.adaptive.horizon': 'Number of episodes over which the coefficient may change by a fifth.',
  'loss.kl.straightThrough':
    'Whether the estimator keeps its value but takes the gradient of `k2`; for a KL in the loss.',
  'loss.kl.biasCorrection':
    'Whether the KL of each token is multiplied by π_current/π_proximal, with its gradient, so that its estimate is unbiased for a policy that has moved since (DeepSeek-V3.2); for a KL in the loss.',
  'loss.referenceDecay':
    'Decay d of a moving reference for the KL term and for preferences: after each update it is d · reference + (1 − d) · policy, by weights. It begins at the first policy after imitation; null keeps that one for good.',
  'loss.rolloutCorrection': 'Correction for tokens that other policies sampled; null leaves it to the loss.',
  'loss.rolloutCorrection.proximal':
    'Policy that the ratio of the loss is taken against: the one at the start of the update (`recomputed`, or without a forward pass `interpolated` between the recorded logprobs and the current ones), or the one that sampled, by its recorded logprobs (`behavior`). Importance weights need `recomputed`; with `interpolated` there are neither weights nor rejections.',
  'loss.rolloutCorrection.importance': 'Importance weights; null is none.',
  'loss.rolloutCorrection.importance.level':
    'Whose ρ weighs a token: its own (`token`), the product over its `sequence`, or the geometric mean of it (`geometric`).',
  'loss.rolloutCorrection.importance.cap': 'Largest weight; larger ones are lowered to it.',
  'loss.rolloutCorrection.importance.floor': 'With a floor, weights outside [floor, cap] become 0 instead.',
  'loss.rolloutCorrection.importance.normalize': 'Whether weights are divided by their mean over the batch.',
  'loss.rolloutCorrection.rejection': 'Rules that a token must all pass to be trained.',
  'loss.rolloutCorrection.rejection[].statistic':
    '`k1` bounds ρ itself from below and above; `k2` = ½ log²ρ and `k3` = ρ − 1 − log ρ have only an upper bound.',
  'loss.rolloutCorrection.rejection[].scope':
    'Whether single tokens are dropped, or whole sequences by sum, mean or maximum.',
  'loss.rolloutCorrection.rejection[].low':
    'Lower bound, for `k1` only; without one, `k1` has only the upper bound.',
  'loss.rolloutCorrection.rejection[].high': 'Upper bound.',
  'loss.rolloutCorrection.vetoBelow':
    'A sequence with one token whose ρ is below this is not trained; null is off.',
  'loss.rolloutCorrection.denominator':
    'Tokens in the denominators of the aggregation: `all`, or only those `kept` by the rules, as in verl.',
  preference: 'Pairs of episodes instead of advantages; null trains by advantages.',
  'preference.loss': '`dpo` (direct preference optimization) or `ipo` (identity preference optimization).',
  'preference.beta': 'β: how strongly the reference policy holds the current one.',
  'preference.labelSmoothing':
    'For `dpo`: share of the pairs that count as the wrong way round, where returns are noisy.',
  'preference.lengthNormalized':
    'Whether log ratios are means over the action tokens of an episode, as TRL has it for `ipo`, and not sums.',
  distillation: 'A teacher whose judgment of each sampled token is its advantage; null has none.',
  'distillation.teacher': 'The teacher.',
  'distillation.teacher.policy':
    'A policy of a run, whose model may have another shape. A teacher is one of this, `model` and `endpoint`.',
  'distillation.teacher.policy.run':
    'The run: its id or a part of it, the name of a recipe for the newest run of it, or `latest` for the newest that has ended.',
  'distillation.teacher.policy.version':
    'The version: a number, `latest`, or `best` for the one with the highest validation success.',
  'distillation.teacher.policy.source': 'The version found; set when a run begins, and not by hand.',
  'distillation.teacher.policy.source.runId': 'Id of the run that published it.',
  'distillation.teacher.policy.source.policyVersion': 'The version.',
  'distillation.teacher.policy.source.sha256':
    'SHA-256 of its weights, by which the checkpoint store names them.',
  'distillation.teacher.policy.source.sizeBytes': 'Size of the weights.',
  'distillation.teacher.model': "Path of a model directory in Hugging Face's format, as for `policy.model`.",
  'distillation.teacher.fingerprint':
    "SHA-256 of the directory's weights; set when a run begins, and not by hand.",
  'distillation.teacher.endpoint':
    'A server that reads the tokens for the teacher, with any engine. What it said is read from the recorded tokens when an update is made again, so `updateTokens` must be true.',
  'distillation.teacher.endpoint.kind':
    'Kind of server; `vllm` is also `retrace serve`, `tinker` one of the Tinker API.',
  'distillation.teacher.endpoint.url':
    'Address of the server, without a path: `http://127.0.0.1:8000`; with any path for `tinker`.',
  'distillation.teacher.endpoint.model':
    'Name under which a vLLM server serves the teacher; SGLang serves one model. For `tinker`: a base model of the server, or the path (`tinker://…`) of a policy that was saved there for samplers.',
  'distillation.teacher.endpoint.apiKeyVariable':
    "Name of the environment variable of the trainer that holds the server's API key; without it, none is sent.",
  'distillation.teacher.endpoint.concurrency': 'Most requests at one time.',
  'distillation.teacher.endpoint.timeoutMs': 'Time limit of one request; not for `tinker`.',
  'distillation.teacher.endpoint.maxRetries':
    'Number of times that a request is made again after a temporary failure; not for `tinker`.',
  'distillation.teacher.endpoint.deadlineMs':
    'Time limit of one request with its repetitions, also while the server is down or refuses for its rate limit.',
  'distillation.topK':
    "How many of the teacher's likeliest tokens S are compared at each place; null compares the sampled token only. The KL is a term of the loss, with its gradient through π, weighted as the policy loss is; the probability of all other tokens is compared as one: tail = 1 − Σ_S. Larger k is closer to the KL over the whole vocabulary. A policy of a run, a model directory, or a vLLM or SGLang server can teach so, with engine `tensorflow` or `torch`; vLLM tells 20 unless it was started with a larger `--max-logprobs`.",
  'distillation.objective':
    '`reverseKl`, Σ_S π (logπ − logπ_teacher) + tail (log tail − log tail_teacher), seeks what the teacher says most; without `topK` it is the advantage of the sampled token. `forwardKl`, Σ_S π_teacher (logπ_teacher − logπ) + tail_teacher (log tail_teacher − log tail), covers all that the teacher may say, and needs `topK`. (Agarwal et al., "On-Policy Distillation of Language Models", 2024; verl\'s distillation with top-k has no tail.)',
  'distillation.coefficient': 'Weight of the KL.',
  'distillation.withReward':
    'Whether the advantages of the rewards count too: they are added. Without them a reward only decides that its episode is trained.',
  optimizer: 'The optimizer.',
  'optimizer.learningRate': 'Learning rate at its peak.',
  'optimizer.criticLearningRate':
    "Learning rate of the critic at its peak: of its value head, and of its own trunk where it has one (`valueTrunk`). Its gradients are then scaled down to `maxGradientNorm` by themselves, as with an optimizer of its own. Null: as the policy's.",
  'optimizer.critic': "Optimizer steps of the critic apart from the policy's; null makes them together.",
  'optimizer.critic.numWarmupUpdates':
    'Number of updates, after imitation, that train only the critic; the policy stays as it is.',
  'optimizer.critic.epochs':
    'Number of times that an update goes over its batch for the critic; null: as often as for the policy.',
  'optimizer.critic.miniBatchActionTokens':
    'Action tokens in a mini-batch of the critic; null cuts as for the policy.',
  'optimizer.critic.miniBatchSequences':
    'Sequences in a mini-batch of the critic, in place of `miniBatchActionTokens`; null cuts as for the policy.',
  'optimizer.critic.maxGradientNorm': "Largest norm of the critic's gradients; null: as for the policy.",
  'optimizer.beta1': 'Decay of the mean of the gradients.',
  'optimizer.beta2': 'Decay of the mean of the squared gradients.',
  'optimizer.epsilon': "Added to the root of the squared gradients' mean.",
  'optimizer.weightDecay': 'Decoupled weight decay, times the learning rate.',
  'optimizer.maxGradientNorm': 'Largest norm of all gradients together; larger ones are scaled down to it.',
  'optimizer.schedule':
    'How the learning rate falls after `decayStartFraction`: along a line (`linear`), along half a `cosine`, or not at all (`constant`).',
  'optimizer.warmupFraction': 'Fraction of the updates over which the learning rate rises linearly from 0.',
  'optimizer.decayStartFraction':
    'Fraction of the updates after which the learning rate falls; at least `warmupFraction`. With 1 it stays at its peak.',
  'optimizer.finalFraction': 'Learning rate at the last update, as a fraction of the peak.',
  'optimizer.epochs': 'Number of times that an update goes over its batch.',
  'optimizer.miniBatchActionTokens':
    'Action tokens in a mini-batch, which is one optimizer step; without it and `miniBatchSequences`, the whole batch is one.',
  'optimizer.miniBatchSequences':
    'Sequences in a mini-batch, in place of `miniBatchActionTokens`; an episode has one or more. Null: by action tokens.',
  'optimizer.maxTokensPerMicroBatch': 'Most tokens in one forward pass; changes memory, never the result.',
  'optimizer.recomputeLayers':
    'Whether layers are computed again for the gradient instead of keeping their activations: less memory, more time, the same result.',
  'optimizer.dataParallel':
    'Processes on one machine that share each optimizer step, each on a GPU of its own where there are several. The gradients are summed in another order for each number, so results differ by rounding.',
  'optimizer.guard': 'Which optimizer steps are not made; null makes them all.',
  'optimizer.guard.maxApproximateKl':
    "Approximate KL(proximal ‖ current) of a mini-batch, the mean of ρ − 1 − log ρ in nats, above which its step and the update's remaining ones are not made; null makes them all.",
  'optimizer.guard.skipNonFinite':
    'Whether a step with a loss or gradient that is not finite is skipped and recorded; without this it ends the run.',
  'optimizer.guard.spikeFactor':
    'A step is skipped whose gradient norm is above this multiple of the running mean of the norms, once 20 steps were made; null is off.',
  'optimizer.guard.maxSkippedInARow':
    'Number of steps in a row that may be skipped before the run ends with an error.',
  imitation: 'Behavior cloning before the policy gradient; null skips it.',
  'imitation.agent': "Name of the environment's scripted agent to imitate.",
  'imitation.numEpisodes': "Number of the agent's episodes to collect.",
  'imitation.numUpdates': 'Number of updates of this stage.',
  'imitation.episodesPerUpdate': 'Episodes drawn for each update.',
  'imitation.learningRate': 'Constant learning rate of this stage.',
  'imitation.epochs': 'Number of times that an update of this stage goes over its episodes.',
  'imitation.miniBatchActionTokens':
    'Action tokens in a mini-batch of this stage; null cuts mini-batches as `optimizer` says.',
  evaluation: 'Greedy evaluation.',
  'evaluation.everyUpdates': 'Validation runs after every so many updates and after the last; 0 is never.',
  'evaluation.beforeTraining': 'Whether the first policy is validated too, before any update.',
  'evaluation.numValidationEpisodes': 'Tasks of a validation, of the validation split.',
  'evaluation.numTestEpisodes':
    'Tasks of the test split, played after the last update; with `earlyStop` by the policy with the best validation.',
  'evaluation.greedy':
    'Whether each task is played once with the likeliest tokens. That success rate is then the one of `keepBest`, `earlyStop` and `targets`.',
  'evaluation.samplesPerTask': 'Sampled episodes of each task, for pass@k.',
  'evaluation.temperature': 'Temperature of the sampled episodes; null is that of `collection`.',
  'evaluation.earlyStop': 'Ends training early; null trains all updates.',
  'evaluation.earlyStop.patience': 'Validations in a row without a gain, after which training ends.',
  'evaluation.earlyStop.minGain':
    'Least rise of the success rate over the best so far that counts as a gain.',
  'evaluation.targets':
    'Success rates of which the metrics `validation/updatesTo…` and `validation/secondsTo…` say when a validation first reached them.',
  engine:
    "Engine that computes gradients and makes optimizer steps; null is TensorFlow.js in the trainer's process.",
  'engine.kind':
    "`tensorflow`: TensorFlow.js in the trainer's process. `torch`: a worker in Python, which the trainer starts, or that answers at `url`. `tinker`: a server of the Tinker API at `url`, which trains adapters.",
  'engine.url':
    'Address of a worker that somebody else started (torchrun, Ray, Slurm), without a path: `http://127.0.0.1:8100`. It must see the checkpoint directory under the same path. For `tinker` that of the server, with any path: `https://host/services/tinker`.',
  'engine.tokenFile':
    'File with the token that the worker at `url` was started with, or with the API key of the Tinker server; relative to the recipe file.',
  'engine.baseModel':
    'For `tinker`: name under which the server has the base model; without it, the path of `policy.model`.',
  'engine.processes':
    'Processes of the worker that the trainer starts; they share model and optimizer (FSDP).',
  'engine.python': 'Python that has torch: a program of the path, or a path relative to the recipe file.',
  'engine.backend':
    'For `torch`: what computes in the worker: its own model (`native`), or the FSDP engine of the package `verl`, which trains all weights of a model without a critic.',
  'engine.options':
    "Settings of verl's engine, under the names of its `FSDPEngineConfig`, such as `fsdp_size`.",
  'engine.precision': 'Type in which the worker computes; weights and moments are float32 either way.',
  'engine.peakFlops':
    'Peak of the device of one process in FLOP/s, as its maker states it for dense matrix products in this precision (989e12 for an H100 in bfloat16). Each update then records `perf/mfu`.',
  'engine.recomputeLayers':
    'Whether layers are computed again for the gradient instead of keeping their activations; without it, as `optimizer.recomputeLayers` says.',
  'engine.offload': "Whether weights and moments are in the host's memory while they are not used.",
  'engine.shardedCheckpoints':
    "Whether each process of the worker writes its own rows of weights and moments, as files of their own, in place of one process that collects all. Every engine but verl's reads them, in any number of processes.",
  compute: 'How the processes of a run compute; null is the same as `{}`.',
  'compute.matMulPrecision':
    "Precision of matrix products. With `bfloat16`, TensorFlow rounds the factors on processors with AMX or AVX512-BF16; sums and weights stay float32, and the collector's and the trainer's logprobs of a token differ by that rounding.",
  'compute.optimizerOffload':
    "Where the optimizer's moments, 8 bytes for each trained number, are between steps: on the `device`, in the memory of the `host`, which is another one only where a GPU computes, or on `disk`, in the system's directory for temporary files. Results are the same.",
  'compute.referenceOffload':
    'Whether the weights of the reference policy leave memory between updates, and are read from the checkpoint again for each. Results are the same.',
  process: 'How a run is divided into processes; null is the same as `{}`.',
  'process.colocate':
    'Whether trainer and collector are one process, with one set of weights: the collector gets the next policy before its files are written. Without it, where they work one after the other: `collection.maxStaleness` is 0, one collector samples in its own process, and the engine is TensorFlow.js.',
  'process.colocateValidator':
    'Whether the process that is trainer and collector also validates, from the first update on: it starts no second TensorFlow. Training and validation then take turns. It has no effect where trainer and collector are two processes. Without it: on a machine with at most two processors, for a policy that begins with random weights in a built-in environment.',
  checkpoint: 'Which weights and optimizer states are kept.',
  'checkpoint.weights': 'Which versions keep their weights; null keeps those of every version.',
  'checkpoint.weights.keepLast':
    'Number of the newest versions to keep; at least `collection.maxStaleness` + 2 are kept.',
  'checkpoint.weights.keepBest':
    'Number of the versions with the highest validation success to keep; 0 keeps none for that.',
  'checkpoint.weights.keepEvery':
    'The version after every so many updates is kept for good, and with it the first.',
  'checkpoint.keepLast': 'Number of the newest optimizer states to keep.',
  'checkpoint.keepEvery': 'The optimizer state after every so many updates is kept for good.',
  monitors: 'Bounds of the monitors that watch each update; null watches nothing.',
  'monitors.missingRewardFraction': "Largest fraction of an update's episodes without a reward.",
  'monitors.equalRewardUpdates': 'Updates in a row in which all episodes have the same reward.',
  'monitors.hackingCorrelation':
    "Least |Spearman's ρ| with the order of the last ten updates at which a rising reward and a falling success are reward hacking.",
  'monitors.entropyFraction':
    'Least entropy of a policy whose success does not rise while it has over half of its first failures, as a fraction of the mean of the first five updates, or of the entropy of an even choice of the legal actions where that is less.',
  'monitors.zeroGradientFraction': 'Largest fraction of groups with equal rewards, three updates in a row.',
  'monitors.clippedFraction':
    'Largest fraction of tokens that the bounds of the ratio clip, three updates in a row.',
  'monitors.lengthFactor':
    "Largest mean number of action tokens of an episode, as a multiple of the first five updates'.",
  'monitors.gradientNormFactor':
    "Largest gradient norm, as a multiple of the mean of the last twenty updates'.",
  'monitors.ratioDeviation':
    'Largest |ratio − 1| of tokens that the current policy sampled, between trainer and collector; with `engine.precision` `bfloat16` none unless it is given, as single tokens are off by rounding there.',
  'monitors.repeatedStepFraction': 'Largest fraction of steps that repeat the step before.',
  'monitors.tooStaleUpdates': 'Updates in a row before each of which groups were thrown away as too stale.',
  'monitors.readTimeFactor':
    'Largest time of reading a batch, as a multiple of the time of its update, three updates in a row.',
  updateTokens:
    'Whether each update records ratio, advantage, value, KL, entropy, clip and what a teacher said of every token that it trained, for the view `update_tokens`: 37 bytes for each token of each optimizer step, with a teacher 41.',
};
/** Defaults of the fields for experts, by their path; null where absent means null or nothing. */
export const EXPERT_DEFAULTS: Readonly<Record<string, unknown>> = {
  'environment.server.directory': null,
  'environment.server.numServers': 1,
  'environment.server.firstPort': null,
  'environment.server.startTimeoutMs': 120000,
  'environment.server.maxEpisodes': 64,
  'environment.server.recycleAfterEpisodes': null,
  'tasks.contents': null,
  'tasks.contents.numTrain': null,
  'tasks.contents.numValidation': null,
  'tasks.contents.numTest': null,
  'tasks.contents.sha256': null,
  'model.lmHeadInitializerStd': 0.01,
  'policy.critic': null,
  'initFrom.source': null,
  'initFrom.source.runId': null,
  'initFrom.source.policyVersion': null,
  'initFrom.source.sha256': null,
  'initFrom.source.sizeBytes': null,
  'context.whenFull': 'truncate',
  'agent.maxActionsPerTurn': null,
  'agent.toolsInChatTemplate': false,
  'agent.summaryTemplate': null,
  'agent.history.keepThoughts': true,
  'agent.history.trainSummaries': false,
  'agent.invalidAction.endAfter': null,
  'agent.maxEpisodeTokens': null,
  'collection.concurrentEpisodes': 512,
  'collection.resetTimeoutMs': 60000,
  'collection.stepTimeoutMs': 60000,
  'collection.maxFailuresInARow': 64,
  'collection.endpoint.url': null,
  'collection.endpoint.numServers': 1,
  'collection.endpoint.startTimeoutMs': 600000,
  'collection.endpoint.directory': null,
  'collection.endpoint.timeoutMs': 120000,
  'collection.endpoint.maxRetries': 3,
  'collection.endpoint.deadlineMs': 600000,
  'collection.endpoint.requestsPerMinute': null,
  'collection.endpoint.tokensPerMinute': null,
  'collection.truncatedSuccess': 'failure',
  'data.sources[].contents': null,
  'data.sources[].contents.dataset': null,
  'data.sources[].contents.contentHash': null,
  'data.sources[].contents.numEpisodes': null,
  'data.sources[].contents.numGroups': null,
  'sampler.priorityExponent': 0.6,
  'sampler.importanceExponent': 0.4,
  'sampler.maxTimesSampled': null,
  'sampler.maxResamplings': 10,
  'sampler.curriculum.targetDifficulty': 0.5,
  'sampler.curriculum.leastWeight': 0.1,
  'sampler.limiter': null,
  'sampler.limiter.samplesPerInsert': null,
  'sampler.limiter.minDiff': null,
  'sampler.limiter.maxDiff': null,
  'reward.components[].isUntilFilledIn': false,
  'reward.sourceField': 'data_source',
  'reward.unlistedSource': 'fault',
  'advantage.anchorSimilarity': 1,
  'advantage.bootstrapTruncated': true,
  'advantage.shuffle': false,
  'loss.entropyFloor.maxCoefficient': 1,
  'loss.kl.straightThrough': false,
  'loss.kl.biasCorrection': false,
  'loss.rolloutCorrection.importance.floor': null,
  'loss.rolloutCorrection.importance.normalize': false,
  'loss.rolloutCorrection.vetoBelow': null,
  'loss.rolloutCorrection.denominator': 'all',
  'distillation.teacher.policy.source': null,
  'distillation.teacher.policy.source.runId': null,
  'distillation.teacher.policy.source.policyVersion': null,
  'distillation.teacher.policy.source.sha256': null,
  'distillation.teacher.policy.source.sizeBytes': null,
  'distillation.teacher.fingerprint': null,
  'distillation.teacher.endpoint.concurrency': 16,
  'distillation.teacher.endpoint.timeoutMs': 120000,
  'distillation.teacher.endpoint.maxRetries': 3,
  'distillation.teacher.endpoint.deadlineMs': 600000,
  'optimizer.critic': null,
  'optimizer.critic.numWarmupUpdates': 0,
  'optimizer.critic.epochs': null,
  'optimizer.critic.miniBatchActionTokens': null,
  'optimizer.critic.miniBatchSequences': null,
  'optimizer.critic.maxGradientNorm': null,
  'optimizer.epsilon': 1e-8,
  'optimizer.maxTokensPerMicroBatch': 16384,
  'optimizer.recomputeLayers': false,
  'optimizer.guard': null,
  'optimizer.guard.maxApproximateKl': null,
  'optimizer.guard.skipNonFinite': false,
  'optimizer.guard.spikeFactor': null,
  'optimizer.guard.maxSkippedInARow': 10,
  'imitation.epochs': 1,
  'imitation.miniBatchActionTokens': null,
  'evaluation.beforeTraining': true,
  'evaluation.targets': [0.5, 0.9],
  'engine.options': null,
  'engine.peakFlops': null,
  'engine.recomputeLayers': null,
  'engine.offload': false,
  'engine.shardedCheckpoints': false,
  compute: {},
  'compute.matMulPrecision': 'float32',
  'compute.optimizerOffload': 'device',
  'compute.referenceOffload': false,
  process: {},
  'process.colocate': null,
  'process.colocateValidator': null,
  'checkpoint.keepLast': 3,
  'checkpoint.keepEvery': 25,
  'monitors.missingRewardFraction': 0.2,
  'monitors.equalRewardUpdates': 3,
  'monitors.hackingCorrelation': 0.6,
  'monitors.entropyFraction': 0.05,
  'monitors.zeroGradientFraction': 0.9,
  'monitors.clippedFraction': 0.4,
  'monitors.lengthFactor': 3,
  'monitors.gradientNormFactor': 10,
  'monitors.ratioDeviation': 0.00005,
  'monitors.repeatedStepFraction': 0.5,
  'monitors.tooStaleUpdates': 3,
  'monitors.readTimeFactor': 2,
};
