/**
 * Compares the tokens a second that Retrace's client gets from a real vLLM with those that vLLM's own benchmark client gets: the same server, the
 * same prompts, as many at once; a run of ours follows each of its runs, and is compared with it. vLLM's client streams texts; Retrace's asks for
 * token ids and logprobs, as a run does, which is more work for the server. `… with logprobs` asks for them from vLLM's client, too.
 *
 *   npm run bench -- vllm-client [-- --prompts 192 --tokens 64 --concurrency 64 --rounds 5]
 *
 * vLLM is installed once, some 3 GB (bench/peers/set-up-vllm.sh). Server and clients share this machine.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs, promisify } from 'node:util';
import { openTokenEngine, ServiceClient } from '@retrace/endpoints';
import { openPolicyText } from '@retrace/policy';
import { Pcg32 } from '@retrace/random';
import { pipInstall } from '../test/support/python-client.mjs';
import { startVllm, vllmPython } from '../test/support/vllm-server.mjs';
import { FigureTable } from './figure-table.mjs';
import { median } from './timing.mjs';

const run = promisify(execFile);
const { values } = parseArgs({
  options: {
    prompts: { type: 'string', default: '192' },
    tokens: { type: 'string', default: '64' },
    concurrency: { type: 'string', default: '64' },
    rounds: { type: 'string', default: '5' },
  },
});
const NUM_PROMPTS = Number(values.prompts);
const NUM_TOKENS = Number(values.tokens);
const CONCURRENCY = Number(values.concurrency);
const PROMPT_CHARACTERS = 96;
const LOGPROBS = { logprobs: 0, return_token_ids: true };

/** Texts of lower-case letters, which are as many tokens. */
function makePrompts() {
  const random = new Pcg32(7);
  return Array.from({ length: NUM_PROMPTS }, () =>
    String.fromCharCode(...Array.from({ length: PROMPT_CHARACTERS }, () => 97 + random.nextBelow(26))),
  );
}

/** Tokens a second of Retrace's client. */
async function measureOurs(url, prompts) {
  const service = new ServiceClient({ url, concurrency: CONCURRENCY });
  const engine = openTokenEngine('vllm', service, { timeoutMs: 120_000, maxRetries: 0 });
  const startedAt = performance.now();
  const turns = await Promise.all(
    prompts.map((tokenIds) =>
      engine.generate({
        ...{ tokenIds, model: 'tiny', temperature: 1, topK: 0, topP: 1, greedy: false, seed: 0 },
        ...{ maxNewTokens: NUM_TOKENS, stopTokenIds: [], stopStrings: [] },
      }),
    ),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  await service.close();
  return turns.reduce((sum, turn) => sum + turn.tokenIds.length, 0) / seconds;
}

/** Tokens a second of `vllm bench serve`, as it reports them. */
async function measurePeer({ python, url, model, directory }, extraBody) {
  const result = join(directory, 'result.json');
  await run(
    python,
    [
      ...['-m', 'vllm.entrypoints.cli.main', 'bench', 'serve', '--backend', 'openai', '--base-url', url],
      ...['--model', 'tiny', '--tokenizer', model, '--dataset-name', 'custom', '--skip-chat-template'],
      ...['--dataset-path', join(directory, 'prompts.jsonl'), '--disable-shuffle', '--disable-tqdm'],
      ...['--custom-output-len', String(NUM_TOKENS), '--num-prompts', String(NUM_PROMPTS), '--ignore-eos'],
      ...['--max-concurrency', String(CONCURRENCY), '--num-warmups', '0', '--temperature', '1'],
      ...['--extra-body', JSON.stringify(extraBody)],
      ...['--save-result', '--result-dir', directory, '--result-filename', 'result.json'],
    ],
    { env: { ...process.env, HF_HUB_OFFLINE: '1' }, maxBuffer: 64 * 1024 ** 2, timeout: 600_000 },
  );
  const { completed, output_throughput: throughput } = JSON.parse(readFileSync(result, 'utf8'));
  if (completed !== NUM_PROMPTS) throw new Error(`vLLM's client completed ${completed} of ${NUM_PROMPTS}`);
  return throughput;
}

const server = await startVllm();
if ('unavailable' in server) {
  console.log(`skipped, because ${server.unavailable}`);
} else {
  const directory = mkdtempSync(join(tmpdir(), 'retrace-bench-vllm-'));
  try {
    const texts = makePrompts();
    writeFileSync(
      join(directory, 'prompts.jsonl'),
      texts.map((prompt) => `${JSON.stringify({ prompt })}\n`).join(''),
    );
    const { tokenizer } = await openPolicyText({ tokenizer: 'model', words: null, directory: server.model });
    const prompts = texts.map((text) => Int32Array.from(tokenizer.encode(text)));
    const { python } = await vllmPython();
    // Its benchmark client reads prompts with pandas, which its server does without.
    await pipInstall(python, ['pandas==3.1.1']);
    const peer = { ...server, python, directory };
    // The first requests of a server take longer.
    await measureOurs(server.url, prompts);
    const asked = [{}, LOGPROBS].map((extraBody) => ({ extraBody, theirs: [], ours: [] }));
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const { extraBody, theirs, ours } of asked) {
        theirs.push(await measurePeer(peer, extraBody));
        ours.push(await measureOurs(server.url, prompts));
      }
    }
    const [plain, logprobs] = asked;
    const ratioOf = ({ theirs, ours }) => median(ours.map((rate, round) => rate / theirs[round]));
    const table = new FigureTable("Retrace's client and vLLM's own benchmark client");
    table.add('Retrace: token ids and logprobs', median(asked.flatMap(({ ours }) => ours)), 'tokens/s');
    table.add('vllm bench serve: texts', median(plain.theirs), 'tokens/s');
    table.add('vllm bench serve: texts with logprobs', median(logprobs.theirs), 'tokens/s');
    table.add('Retrace as a multiple, median of rounds', ratioOf(plain), '×', { least: 0.95 });
    table.add('… of its client with logprobs', ratioOf(logprobs), '×', { least: 0.95 });
    table.save(
      `${NUM_PROMPTS} prompts of ${PROMPT_CHARACTERS} tokens, ${NUM_TOKENS} new tokens each, ${CONCURRENCY} at once; medians of ${values.rounds} rounds, in which a run of Retrace's client follows each run of vLLM's.`,
    );
  } finally {
    rmSync(directory, { recursive: true });
    await server.stop();
  }
}
