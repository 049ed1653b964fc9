import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/**
 * Trains the job with TRL in a process of its own (`peers/trl_bandit.py`) until the target is reached.
 *
 * @param python one with torch, transformers and TRL
 * @returns what the script found before it trained, and of each update its success, episodes and seconds since the command and since training began
 */
export async function trainWithTrl(python, job) {
  const script = fileURLToPath(new URL('peers/trl_bandit.py', import.meta.url));
  const startedAt = performance.now();
  const child = spawn(python, [script, job], {
    env: { ...process.env, HF_HUB_OFFLINE: '1', TOKENIZERS_PARALLELISM: 'false' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const updates = [];
  let checks = null;
  let trainingAt = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('{"')) continue;
    const answer = JSON.parse(line);
    const now = performance.now();
    if (answer.versions) checks = answer;
    else if (answer.training) trainingAt = now;
    else
      updates.push({
        ...answer,
        sinceCommand: (now - startedAt) / 1000,
        sinceEpisode: (now - trainingAt) / 1000,
      });
  }
  const code = await ended;
  if (code !== 0) throw new Error(`TRL's process ended with code ${code}; see its output above`);
  return { checks, updates };
}
