/**
 * Appends numbered records to a spool and takes, releases or replaces some; prints a line for each that is confirmed. With an error of the
 * disk it goes on. Ends by itself, or is killed.
 *
 *   node spool-writer.mjs <directory>
 */
import { Buffer } from 'node:buffer';
import { Spool } from '@retrace/spool';

const NUM_RECORDS = 12;
const [directory] = process.argv.slice(2);
const say = (line) => process.stdout.write(`${line}\n`);
const kept = [];

await new Promise((resolve) => process.stdin.once('data', resolve));
const spool = await Spool.open(directory, { sync: true, keeps: 'prefix', segmentBytes: 100 });
for (let n = 0; n < NUM_RECORDS; n++) {
  await spool.append([Buffer.from(`${n}`)]).then(
    () => {
      kept.push(n);
      say(`has ${n}`);
    },
    ({ code }) => say(code),
  );
  if (n !== NUM_RECORDS / 2) continue;
  const all = kept.map((each) => Buffer.from(`${each}`));
  await spool
    .replace(
      () => Promise.resolve(),
      () => all,
    )
    .catch(({ code }) => say(code));
}
await spool.close();
say('closed');
