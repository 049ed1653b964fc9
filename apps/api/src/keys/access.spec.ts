import 'reflect-metadata';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { isLoopback } from '@retrace/page-guard';
import { describe, expect, it } from 'vitest';
import { AppModule } from '../app.module.js';
import { ApiConfig } from '../config/api-config.js';

/** Metadata that Nest's `@Get()` and its siblings, and Fastify's `@RouteConfig()`, leave on a method. */
const [METHOD, ROUTE_CONFIG] = ['method', '__fastify_route_config__'];

interface Route {
  readonly name: string;
  readonly access: unknown;
}

/** Every method of a controller that answers requests, with the level of access that it declares. */
async function routes(): Promise<readonly Route[]> {
  const app = await NestFactory.create(AppModule.with(new ApiConfig()), new FastifyAdapter(), {
    preview: true,
    logger: false,
    abortOnError: false,
  });
  return [...app.get(ModulesContainer).values()].flatMap(({ controllers }) =>
    [...controllers.values()].flatMap(({ metatype }) => {
      const prototype = (metatype as { readonly prototype: Readonly<Record<string, object>> }).prototype;
      return Object.getOwnPropertyNames(prototype)
        .filter((name) => Reflect.hasMetadata(METHOD, prototype[name]))
        .map((name) => ({
          name: `${metatype?.name}.${name}`,
          access: (
            Reflect.getMetadata(ROUTE_CONFIG, prototype[name]) as { readonly access?: unknown } | undefined
          )?.access,
        }));
    }),
  );
}

describe('access', () => {
  it('every route declares who may call it; open to all are the probes and the login', async () => {
    const all = await routes();
    expect(all.length).toBeGreaterThanOrEqual(18);
    expect(all.filter(({ access }) => access === undefined)).toEqual([]);
    expect(all.filter(({ access }) => access === 'open').map(({ name }) => name)).toEqual([
      'SessionController.status',
      'SessionController.logIn',
      'SessionController.logOut',
      'ProbesController.alive',
      'ProbesController.ready',
    ]);
  });

  it.each([
    ['127.0.0.1', true],
    ['127.8.0.1', true],
    ['::1', true],
    ['localhost', true],
    ['0.0.0.0', false],
    ['::', false],
    ['10.0.0.7', false],
    ['127.0.0.1.example.com', false],
    ['::ffff:127.0.0.1', false],
    ['', false],
  ])('isLoopback: "%s" is %s', (host, expected) => {
    expect(isLoopback(host)).toBe(expected);
  });
});
