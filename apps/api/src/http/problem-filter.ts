import { Catch, HttpException, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { StoreError } from '@retrace/store';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ProblemError } from './problem.js';

const RETRY_AFTER_SECONDS = '2';

/** The one place where an error becomes an answer: RFC 9457 `application/problem+json`. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  private readonly logger = new Logger('http');

  catch(error: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const problem = toProblem(error, request);
    if (problem.code === 'INTERNAL') {
      this.logger.error(
        `${request.method} ${request.url} failed`,
        error instanceof Error ? error.stack : String(error),
      );
    }
    if (reply.sent || reply.raw.headersSent) return;
    if (problem.retriable) void reply.header('retry-after', RETRY_AFTER_SECONDS);
    void reply
      .status(problem.status)
      .header('content-type', 'application/problem+json; charset=utf-8')
      .send(JSON.stringify(problem.toBody(request.url.split('?')[0])));
  }
}

function toProblem(error: unknown, request: FastifyRequest): ProblemError {
  if (error instanceof ProblemError) return error;
  if (error instanceof StoreError) return storeProblem(error);
  const status = statusOf(error);
  const message = error instanceof Error ? error.message : String(error);
  switch (status) {
    case 400:
      return new ProblemError('MALFORMED_BODY', message);
    // Static files answer 403 for a path that leads out of their directory.
    case 403:
    case 404:
      return new ProblemError('NOT_FOUND', `There is no ${request.method} ${request.url.split('?')[0]}`);
    case 413:
      return new ProblemError('BODY_TOO_LARGE', message);
    case 415:
      return new ProblemError('UNSUPPORTED_MEDIA_TYPE', message);
    default:
      // What failed inside is for the log, not for the client.
      return new ProblemError('INTERNAL', 'The server failed to answer; its log says why');
  }
}

function storeProblem(error: StoreError): ProblemError {
  if (error.retriable) return new ProblemError('STORE_UNAVAILABLE', error.message);
  return new ProblemError('INTERNAL', error.message);
}

/** Nest and Fastify both put an HTTP status on what they throw themselves. */
function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  const status = (error as { readonly statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' ? status : 500;
}
