/**
 * Blocks of the pages that no spec of this folder runs, by their page and first line, each with the reason. What tests it instead is named where there is
 * such a test.
 *
 * @type {readonly { readonly page: string, readonly begins: string, readonly reason: string }[]}
 */
export const UNRUN_BLOCKS = [
  {
    page: 'docs/agents.md',
    begins:
      '"reward": { "components": [{ "reward": "environment" }, { "reward": "invalidAction", "options": { "penalty": 0.1 } }], … }',
    reason: 'has … for what a reader already has',
  },
  {
    page: 'docs/cli.md',
    begins:
      '{ "error": { "code": "RUN_UNKNOWN", "message": "run \\"none\\" not found; see \\"retrace runs\\"" } }',
    reason: 'output, which libs/runs/src/choose/select-run.spec.ts has, too',
  },
  {
    page: 'docs/engines.md',
    begins: "pip install 'clients/python[engine,ray]'",
    reason: 'starts a Ray cluster and GPUs; test/long/ray.spec.ts runs the like on processors',
  },
  {
    page: 'docs/metrics.md',
    begins:
      '{"run":"0193…","kind":"update","step":3,"time":"2026-11-24T12:00:00.000Z","train/loss":0.12,"rollout/success":0.5}',
    reason: 'output with a shortened id',
  },
  {
    page: 'docs/recording.md',
    begins: '{\n  "ids": [5, 6, 7, 8],',
    reason: 'part of a record; libs/recording has specs of it',
  },
  {
    page: 'docs/recording.md',
    begins: '{\n  "rules": [',
    reason: 'rules of redaction; libs/recording has specs of them',
  },
  {
    page: 'docs/clients.md',
    begins: "import { createOpenAI } from '@ai-sdk/openai';",
    reason: 'needs a key of OpenAI; test/frameworks/recorded-agents.spec.ts runs the like against a stand-in',
  },
  {
    page: 'docs/clients.md',
    begins: "import { addTraceProcessor, Agent, run as runAgent } from '@openai/agents';",
    reason: 'needs a key of OpenAI; test/frameworks/recorded-agents.spec.ts runs the like against a stand-in',
  },
  {
    page: 'docs/clients.md',
    begins: "import { createReactAgent } from '@langchain/langgraph/prebuilt';",
    reason: 'needs a key of OpenAI; test/frameworks/recorded-agents.spec.ts runs the like against a stand-in',
  },
  {
    page: 'docs/serve.md',
    begins: "const openai = new OpenAI({ baseURL: 'http://127.0.0.1:8789/v1', apiKey: 'none' });",
    reason: 'needs the package openai; test/frameworks/served-models.spec.ts runs the like',
  },
  {
    page: 'docs/datasets.md',
    begins: 'from datasets import load_dataset',
    reason: 'needs Hugging Face datasets; clients/python/tests/heavy/test_datasets.py runs the like',
  },
  {
    page: 'docs/compute.md',
    begins: 'npm run test:gpu',
    reason: 'needs a GPU; scripts/gpu-check runs both where there is one',
  },
  {
    page: 'docs/import.md',
    begins: 'npx retrace import babyai.parquet --verify',
    reason:
      "needs AgentGym's babyai and what was recorded on it; test/system/import.spec.ts verifies the like on Retrace's own worlds",
  },
  {
    page: 'docs/serve.md',
    begins: 'retrace train --from-run <recorded run>',
    reason:
      'needs what an agent did with the policy; test/system/trained-through-proxy.spec.ts lets one act, and trains on it',
  },
  {
    page: 'docs/openmanus-rl.md',
    begins: 'retrace train --recipe textcraft-gigpo',
    reason:
      'needs a model of 1.5 billion parameters and AgentGym; test/long/agentgym-presets.mjs trains each preset',
  },
  {
    page: 'docs/operations.md',
    begins: 'export RETRACE_KAFKA_BROKERS=',
    reason:
      'needs Kafka and a ClickHouse server on hosts of their own; test/faults and test/long/live-services.mjs run the roles on Kafka',
  },
  {
    page: 'docs/environments.md',
    begins: 'import sys',
    reason: 'needs gymnasium; clients/python/tests/test_environments.py serves environments',
  },
  {
    page: 'docs/batches.md',
    begins: 'from retrace import Retrace',
    reason: 'has a run of the reader; clients/python/tests/test_training_batch.py runs the like',
  },
  {
    page: 'docs/batches.md',
    begins: 'from retrace.trainers.verl import to_data_proto',
    reason: 'needs verl; clients/python/tests/heavy/test_trainers.py runs the like',
  },
  {
    page: 'docs/batches.md',
    begins: 'from trl import GRPOConfig, GRPOTrainer',
    reason: 'needs TRL; clients/python/tests/heavy/test_trainers.py runs the like',
  },
  {
    page: 'docs/batches.md',
    begins: 'from retrace import Checkpoint, TrainedUpdate, TrainerEngine',
    reason: 'goes on from the block of TRL; clients/python/tests/heavy/test_trained_outside.py runs the like',
  },
  {
    page: 'docs/python.md',
    begins: 'from retrace import Retrace',
    reason: 'needs a server at port 8787; clients/python/tests/test_server.py runs the like',
  },
  {
    page: 'docs/python.md',
    begins: 'table = client.sql("SELECT name, run_id FROM runs")  # a pyarrow.Table',
    reason: 'goes on from another block; clients/python/tests/test_batches.py runs the like',
  },
  {
    page: 'docs/python.md',
    begins: 'from agents import add_trace_processor',
    reason: 'needs openai-agents; clients/python/tests/test_openai_agents.py runs the like',
  },
  {
    page: 'docs/python.md',
    begins: 'from retrace.recorders.verl import RecordedAgentLoop, record_scores',
    reason: 'needs verl; clients/python/tests/heavy/test_verl.py runs the like',
  },
  {
    page: 'docs/python.md',
    begins: 'from retrace.recorders.trl import RecordedCompletions, recorded_rewards',
    reason: 'needs TRL; clients/python/tests/heavy/test_trl.py runs the like',
  },
  {
    page: 'docs/python.md',
    begins: 'with run.episode(task=task) as episode:',
    reason: "has a reader's own generate and environment; clients/python/tests/test_context.py runs the like",
  },
];

/**
 * Finds the reason why a block is not run.
 *
 * @param {{ readonly page: string, readonly text: string }} block
 * @returns {string | null} null for a block that is run
 */
export function unrunReasonOf({ page, text }) {
  return UNRUN_BLOCKS.find((listed) => isListedBy(listed, { page, text }))?.reason ?? null;
}

/**
 * Says whether an entry of the list is about a block.
 *
 * @param {{ readonly page: string, readonly begins: string }} listed
 * @param {{ readonly page: string, readonly text: string }} block
 */
export function isListedBy(listed, { page, text }) {
  return listed.page === page && text.startsWith(listed.begins);
}
