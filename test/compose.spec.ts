import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepHeartbeatFile } from '@retrace/process';
import { load, YAML11_SCHEMA } from 'js-yaml';
import { describe, expect, it } from 'vitest';

/** The part of the Compose specification that the file uses. */
interface Service {
  readonly image?: string;
  readonly user?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: Readonly<Record<string, unknown>> & { readonly test: readonly string[] };
  readonly deploy?: {
    readonly resources: { readonly limits: { readonly cpus: string; readonly memory: string } };
  };
}

/** Keys of a service in the Compose specification (compose-spec/compose-spec, 05-services.md) that this file may use. */
const SERVICE_KEYS = new Set([
  ...['image', 'build', 'user', 'init', 'restart', 'read_only', 'tmpfs', 'cap_drop', 'security_opt'],
  ...['volumes', 'depends_on', 'environment', 'command', 'ports', 'healthcheck', 'deploy', 'ulimits'],
]);
const HEALTHCHECK_KEYS = new Set(['test', 'interval', 'timeout', 'retries', 'start_period']);

const text = readFileSync(new URL('../docker-compose.yml', import.meta.url), 'utf8');
const file = load(text, { schema: YAML11_SCHEMA }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
};
const services = Object.entries(file.services);
const dockerfile = readFileSync(new URL('../Dockerfile', import.meta.url), 'utf8');

describe('docker-compose.yml', () => {
  it('has the log, the store and a container a role', () => {
    expect(Object.keys(file.services).sort()).toEqual([
      'api',
      'clickhouse',
      'collect',
      'kafka',
      'sink',
      'train',
      'validate',
    ]);
    expect(Object.keys(file).filter((key) => !key.startsWith('x-'))).toEqual(['name', 'services', 'volumes']);
  });

  it.each(services)('%s has keys of the specification, with values of their types', (_, service) => {
    expect(Object.keys(service).filter((key) => !SERVICE_KEYS.has(key))).toEqual([]);
    const { environment = {}, volumes = [], ports = [], command = [] } = service;
    for (const value of [...Object.values(environment), ...volumes, ...ports, ...command]) {
      expect(value).toBeTypeOf('string');
    }
    for (const volume of volumes) {
      const [source] = volume.split(':');
      expect(source.startsWith('./') || source in file.volumes, `volume ${source}`).toBe(true);
    }
    for (const [name, { condition }] of Object.entries(service.depends_on ?? {})) {
      expect(file.services).toHaveProperty(name);
      expect(condition).toBe('service_healthy');
    }
  });

  it.each(services)(
    '%s is pinned, not root, checked for health, and bounded',
    (_, { image, user, healthcheck, deploy }) => {
      expect(image).toMatch(/:\d+\.\d+\.\d+/);
      expect(user).toMatch(/^[a-z]+$/);
      expect(user).not.toBe('root');
      expect(Object.keys(healthcheck ?? {}).filter((key) => !HEALTHCHECK_KEYS.has(key))).toEqual([]);
      expect(healthcheck?.test[0]).toMatch(/^CMD(-SHELL)?$/);
      expect(deploy?.resources.limits.cpus).toMatch(/^\d+(\.\d+)?$/);
      expect(deploy?.resources.limits.memory).toMatch(/^\d+[MG]$/);
    },
  );

  it.each(['sink', 'train', 'collect', 'validate'])(
    '%s counts as healthy while its heartbeat is young',
    async (role) => {
      const [, command, ...args] = file.services[role].healthcheck?.test ?? [];
      const directory = mkdtempSync(join(tmpdir(), 'retrace-heartbeat-'));
      const path = join(directory, 'heartbeat');
      const check = () =>
        spawnSync(command, args, { env: { ...process.env, RETRACE_HEARTBEAT_FILE: path } }).status;
      try {
        expect(check()).not.toBe(0);
        keepHeartbeatFile(path);
        expect(check()).toBe(0);
        utimesSync(path, new Date(0), new Date(0));
        await expect.poll(() => statSync(path).mtimeMs).toBeGreaterThan(0);
        expect(check()).toBe(0);
        utimesSync(path, new Date(0), new Date(0));
        expect(check()).toBe(1);
      } finally {
        rmSync(directory, { recursive: true });
      }
    },
  );

  it('takes every secret from the environment, and .env.example names all that it takes', () => {
    for (const [, { environment = {} }] of services) {
      for (const [name, value] of Object.entries(environment)) {
        if (name.endsWith('PASSWORD')) expect(value).toMatch(/^\$\{\w+:\?.+\}$/);
      }
    }
    const example = readFileSync(new URL('../.env.example', import.meta.url), 'utf8');
    const named = [...example.matchAll(/^(\w+)=(.*)$/gm)];
    const taken = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name));
    expect(named.map(([, name]) => name).sort()).toEqual([...taken].sort());
    for (const [, name, value] of named) if (name.endsWith('PASSWORD')) expect(value).toBe('');
  });

  it('starts the roles by commands and variables that docs/operations.md describes', () => {
    const operations = readFileSync(new URL('../docs/operations.md', import.meta.url), 'utf8');
    for (const role of ['sink', 'api', 'train', 'collect', 'validate']) {
      const { command = [], environment = {} } = file.services[role];
      expect(command[0]).toBe(role);
      expect(operations).toContain(`retrace ${role}`);
      expect(Object.keys(environment)).toEqual(
        expect.arrayContaining(['RETRACE_KAFKA_BROKERS', 'RETRACE_STORE_URL', 'RETRACE_STORE_PASSWORD']),
      );
    }
  });
});

describe('Dockerfile', () => {
  const instructions = dockerfile
    .split('\n')
    .filter((line) => /^[A-Z]+ /.test(line))
    .map((line) => line.split(' '));

  it('builds in one stage and runs in another, both pinned, without install scripts and not as root', () => {
    const stages = instructions.filter(([name]) => name === 'FROM');
    expect(stages).toHaveLength(2);
    for (const [, image] of stages) expect(image).toMatch(/^node:\d+\.\d+\.\d+-\w+-slim$/);
    expect(dockerfile).toContain('npm ci --ignore-scripts');
    expect(instructions.findLast(([name]) => name === 'USER')).toEqual(['USER', 'node']);
    expect(instructions.filter(([name, from]) => name === 'COPY' && from !== '--from=build')).toEqual([
      ['COPY', '.', '.'],
    ]);
  });
});
