/**
 * Runs command lines that must be refused, one after the other in this process, which its caller can end if one is not. Reads
 * `{ directory, commands }` from stdin and prints for each command its exit code, what it wrote on stderr and stdout, and what is in
 * the directory then. Stops after the first that left something there.
 */
import { readdirSync } from 'node:fs';
import { json } from 'node:stream/consumers';
import { runCli } from '@retrace/cli';

const { directory, commands } = await json(process.stdin);
const results = [];
const print = console.log;
for (const args of commands) {
  const [stdout, stderr] = [[], []];
  console.log = (text) => stdout.push(text);
  console.error = (text) => stderr.push(text);
  const code = await runCli(args);
  const left = readdirSync(directory);
  results.push({ code, stdout: stdout.join('\n'), stderr: stderr.join('\n'), left });
  if (code !== 2 || left.length > 0) break;
}
print(JSON.stringify(results));
