import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { installS3Server, S3ServerUnavailable } from './install.mjs';

const BUCKET = 'retrace-tests';
const START_TIMEOUT_MS = 20_000;

/**
 * Starts an S3 server of its own for whoever calls, with one bucket; it ends with `close`, or with this process. The objects are files
 * below `bucketDirectory`, so a test can damage them.
 *
 * @returns {Promise<import('./start-s3-server.d.mts').S3Server | { unavailable: string }>}
 */
export async function startS3Server() {
  let program;
  try {
    program = await installS3Server();
  } catch (error) {
    if (error instanceof S3ServerUnavailable) return { unavailable: error.message };
    throw error;
  }
  const directory = mkdtempSync(join(tmpdir(), 'retrace-s3-'));
  const bucketDirectory = join(directory, 'objects', BUCKET);
  for (const path of [bucketDirectory, join(directory, 'metadata', BUCKET)])
    mkdirSync(path, { recursive: true });
  const port = await freePort();
  const credentials = { accessKeyId: 'retrace-test', secretAccessKey: 'retrace-test-secret' };
  const flags = ['--access', credentials.accessKeyId, '--secret', credentials.secretAccessKey, '--quiet'];
  const backend = ['posix', '--sidecar', join(directory, 'metadata'), join(directory, 'objects')];
  const start = async () => {
    const child = spawn(program, [...flags, '--port', `127.0.0.1:${port}`, ...backend], { stdio: 'ignore' });
    const kill = () => child.kill('SIGKILL');
    process.once('exit', kill);
    child.once('exit', () => process.removeListener('exit', kill));
    await untilAnswering(port, child);
    return child;
  };
  const stop = async (child) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await exited;
  };
  let child = await start();
  return {
    endpoint: `http://127.0.0.1:${port}`,
    bucket: BUCKET,
    bucketDirectory,
    credentials,
    stop: () => stop(child),
    start: async () => {
      child = await start();
    },
    close: async () => {
      await stop(child);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function untilAnswering(port, child) {
  for (const deadline = performance.now() + START_TIMEOUT_MS; ; await sleep(50)) {
    // Whatever the answer is: without a signature the server refuses, which shows that it is up.
    const isUp = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
    if (isUp) return;
    if (child.exitCode !== null || performance.now() > deadline) {
      throw new Error(`the S3 server for tests did not start (exit code ${child.exitCode})`);
    }
  }
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
