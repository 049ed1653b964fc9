import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ProblemError } from '../problems/problem.js';

/** The header `Last-Event-ID` as an offset; null when it is missing. */
export const LastEventId = createParamDecorator((_: unknown, context: ExecutionContext): number | null => {
  const value = context.switchToHttp().getRequest<FastifyRequest>().headers['last-event-id'];
  if (value === undefined || value === '') return null;
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
  const rule = 'Last-Event-ID must be the id of a message of this stream, a whole number';
  throw new ProblemError('INVALID_REQUEST', rule, [{ field: 'Last-Event-ID', value, rule }]);
});
