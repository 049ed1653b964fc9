import 'reflect-metadata';
import { createRequire } from 'node:module';
import type * as ClassTransformer from 'class-transformer';

const require = createRequire(import.meta.url);

export const { Transform, Type, classToPlain, plainToInstance } =
  require('class-transformer') as typeof ClassTransformer;
