/** The proxy of `retrace up` as a process, which the supervisor starts for the first call of an agent: `node apps/cli/dist/agents/main.js`. */
import { runProcess } from '@retrace/process';
import { runAgentProxy } from './run-agent-proxy.js';

await runProcess(process.env, runAgentProxy);
