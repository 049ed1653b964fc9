/**
 * One Kafka broker (KRaft, one node) for tests, on free ports of 127.0.0.1, in a directory that goes when it ends.
 *
 *   node libs/log/kafka-broker/broker.mjs [--proxied-port P]
 *
 * Prints one line of JSON when it is ready: listeners, credentials, CA file; or `{"unavailable": "…"}`. Commands, a line each, on
 * stdin: `kill` (SIGKILL), `start`, `stop` (SIGTERM); each answers with `{"done": …}`. It ends, and the broker with it, when stdin does.
 */
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { findFreePort } from '@retrace/process/free-port';
import { installKafka, KafkaUnavailable } from './install.mjs';

const run = promisify(execFile);
const START_TIMEOUT_MS = 180_000;
const JVM = [
  ...['-Xms96m', '-Xmx320m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'],
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
  '-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info',
];
const KEYSTORE_PASSWORD = 'changeit';
const USER = { username: 'retrace', password: 'not a secret' };
const LISTENERS = ['PLAINTEXT', 'SASL', 'SASL_TLS', 'TLS', 'PROXIED', 'CONTROLLER'];

class Broker {
  #jars;
  #directory;
  #ports;
  #proxiedPort;
  #child = null;

  constructor(jars, directory, ports, proxiedPort) {
    this.#jars = jars;
    this.#directory = directory;
    this.#ports = ports;
    this.#proxiedPort = proxiedPort;
  }

  async format() {
    await makeCertificates(this.#directory);
    writeFileSync(join(this.#directory, 'server.properties'), this.#properties());
    const clusterId = `A${randomBytes(16).toString('base64url').slice(1)}`;
    const scram = ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
      '--add-scram',
      `${mechanism}=[name=${USER.username},password=${USER.password}]`,
    ]);
    const config = join(this.#directory, 'server.properties');
    const tool = ['kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', config, ...scram];
    await run('java', [...JVM, '-cp', `${this.#jars}/*`, ...tool]);
  }

  async start() {
    const java = [
      'java',
      ...JVM,
      '-cp',
      `${this.#jars}/*`,
      'kafka.Kafka',
      join(this.#directory, 'server.properties'),
    ];
    // The broker dies with this process, however that ends.
    const command = process.platform === 'linux' ? ['setpriv', '--pdeathsig', 'KILL', ...java] : java;
    const child = spawn(command[0], command.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    let output = '';
    const ready = new Promise((resolve, reject) => {
      const read = (chunk) => {
        output = (output + chunk).slice(-20_000);
        appendFileSync(join(this.#directory, 'broker.log'), chunk);
        if (output.includes('Kafka Server started')) resolve();
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.once('exit', (code) => reject(new Error(`the broker ended with ${code}:\n${output}`)));
      setTimeout(
        () => reject(new Error(`the broker was not ready in time:\n${output}`)),
        START_TIMEOUT_MS,
      ).unref();
    });
    await ready;
  }

  async end(signal) {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await exited;
  }

  describe() {
    const at = (listener) => `127.0.0.1:${this.#ports[listener]}`;
    return {
      plaintext: at('PLAINTEXT'),
      sasl: at('SASL'),
      saslTls: at('SASL_TLS'),
      tls: at('TLS'),
      proxied: at('PROXIED'),
      ...USER,
      caFile: join(this.#directory, 'certificate.pem'),
      directory: this.#directory,
    };
  }

  #properties() {
    const ports = this.#ports;
    const listeners = LISTENERS.map((name) => `${name}://127.0.0.1:${ports[name]}`);
    const advertised = listeners
      .filter((listener) => !listener.startsWith('CONTROLLER'))
      .map((listener) =>
        listener.startsWith('PROXIED')
          ? `PROXIED://127.0.0.1:${this.#proxiedPort ?? ports.PROXIED}`
          : listener,
      );
    const protocols =
      'PLAINTEXT:PLAINTEXT,SASL:SASL_PLAINTEXT,SASL_TLS:SASL_SSL,TLS:SSL,PROXIED:PLAINTEXT,CONTROLLER:PLAINTEXT';
    const { username, password } = USER;
    const login = (module) => `org.apache.kafka.common.security.${module} required`;
    const plain = `${login('plain.PlainLoginModule')} user_${username}="${password}";`;
    const scram = `${login('scram.ScramLoginModule')};`;
    const sasl = ['sasl', 'sasl_tls'].flatMap((name) => [
      `listener.name.${name}.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512`,
      `listener.name.${name}.plain.sasl.jaas.config=${plain}`,
      `listener.name.${name}.scram-sha-256.sasl.jaas.config=${scram}`,
      `listener.name.${name}.scram-sha-512.sasl.jaas.config=${scram}`,
    ]);
    return [
      'process.roles=broker,controller',
      'node.id=1',
      `listeners=${listeners.join(',')}`,
      `advertised.listeners=${advertised.join(',')}`,
      `listener.security.protocol.map=${protocols}`,
      'inter.broker.listener.name=PLAINTEXT',
      'controller.listener.names=CONTROLLER',
      `controller.quorum.voters=1@127.0.0.1:${ports.CONTROLLER}`,
      `log.dirs=${join(this.#directory, 'data')}`,
      'auto.create.topics.enable=false',
      'default.replication.factor=1',
      'min.insync.replicas=1',
      'offsets.topic.replication.factor=1',
      'offsets.topic.num.partitions=4',
      'transaction.state.log.replication.factor=1',
      'transaction.state.log.min.isr=1',
      'transaction.state.log.num.partitions=4',
      'group.initial.rebalance.delay.ms=0',
      'num.network.threads=2',
      'num.io.threads=4',
      'log.cleaner.dedupe.buffer.size=16777216',
      'broker.session.timeout.ms=1500',
      'broker.heartbeat.interval.ms=300',
      'ssl.keystore.type=PKCS12',
      `ssl.keystore.location=${join(this.#directory, 'keystore.p12')}`,
      `ssl.keystore.password=${KEYSTORE_PASSWORD}`,
      'ssl.client.auth=none',
      ...sasl,
      '',
    ].join('\n');
  }
}

/** A self-signed certificate for 127.0.0.1, by the Java that runs the broker. */
async function makeCertificates(directory) {
  const access = [
    '-keystore',
    join(directory, 'keystore.p12'),
    '-storetype',
    'PKCS12',
    '-storepass',
    KEYSTORE_PASSWORD,
    '-alias',
    'broker',
  ];
  const names = ['-dname', 'CN=127.0.0.1', '-ext', 'san=ip:127.0.0.1,dns:localhost'];
  await run('keytool', ['-genkeypair', ...access, ...names, '-keyalg', 'EC', '-validity', '2']);
  const { stdout: certificate } = await run('keytool', ['-exportcert', '-rfc', ...access]);
  writeFileSync(join(directory, 'certificate.pem'), certificate);
}

/** Free ports, all different. */
async function freePorts(names) {
  const ports = new Set();
  while (ports.size < names.length) ports.add(await findFreePort());
  return Object.fromEntries([...ports].map((port, i) => [names[i], port]));
}

function print(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

async function main() {
  const proxiedAt = process.argv.indexOf('--proxied-port');
  const proxiedPort = proxiedAt < 0 ? null : Number(process.argv[proxiedAt + 1]);
  let jars;
  try {
    jars = await installKafka();
  } catch (error) {
    if (!(error instanceof KafkaUnavailable)) throw error;
    print({ unavailable: error.message });
    return;
  }
  const commands = createInterface({ input: process.stdin });
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => commands.close());
  const directory = mkdtempSync(join(tmpdir(), 'retrace-kafka-'));
  const broker = new Broker(jars, directory, await freePorts(LISTENERS), proxiedPort);
  try {
    mkdirSync(join(directory, 'data'));
    await broker.format();
    await broker.start();
    print(broker.describe());
    for await (const command of commands) {
      if (command === 'start') await broker.start();
      else if (command === 'kill') await broker.end('SIGKILL');
      else if (command === 'stop') await broker.end('SIGTERM');
      else throw new Error(`command is '${command}'; must be start, kill or stop`);
      print({ done: command });
    }
  } finally {
    await broker.end('SIGKILL');
    if (process.env.RETRACE_KEEP_BROKER_LOG === '1')
      process.stderr.write(readFileSync(join(directory, 'broker.log')));
    rmSync(directory, { recursive: true, force: true });
  }
}

await main();
