import { Catch, HttpException, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { hideKeys } from '@retrace/process';
import { LogError } from '@retrace/log';
import { RecordingError } from '@retrace/recording';
import { StoreError } from '@retrace/store';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { recordMediaType } from './records-route.js';
import { otlpFailure } from './otlp-failure.js';
import { ProblemError } from '../problems/problem.js';
import { recordingProblem } from '../problems/recording-problem.js';

const RETRY_AFTER_SECONDS = '2';

/** Answers every error as RFC 9457 `application/problem+json`. */
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
    if (problem.retriable && !reply.hasHeader('retry-after'))
      void reply.header('retry-after', RETRY_AFTER_SECONDS);
    // What is left of the body would be read as the next request.
    if (problem.code === 'BODY_TOO_LARGE' && !request.raw.readableEnded)
      void reply.header('connection', 'close');
    if (recordMediaType(request) === 'application/x-protobuf') {
      void reply
        .status(problem.status)
        .header('content-type', 'application/x-protobuf')
        .send(otlpFailure(problem));
      return;
    }
    void reply
      .status(problem.status)
      .header('content-type', 'application/problem+json; charset=utf-8')
      .send(hideKeys(JSON.stringify(problem.toBody(readPath(request)))));
  }
}

function toProblem(error: unknown, request: FastifyRequest): ProblemError {
  if (error instanceof ProblemError) return error;
  if (error instanceof StoreError) return storeProblem(error);
  if (error instanceof RecordingError) return recordingProblem(error);
  if (error instanceof LogError && error.retriable) return new ProblemError('LOG_UNAVAILABLE', error.message);
  const status = readStatus(error);
  const message = error instanceof Error ? error.message : String(error);
  switch (status) {
    case 400:
      return new ProblemError('MALFORMED_BODY', message);
    // @fastify/static answers 403 to a path that leads out of its directory.
    case 403:
    case 404:
      return new ProblemError('NOT_FOUND', `No route for ${request.method} ${readPath(request)}`);
    case 413:
      return new ProblemError('BODY_TOO_LARGE', message);
    case 415:
      return new ProblemError('UNSUPPORTED_MEDIA_TYPE', message);
    case 503:
      return new ProblemError('SHUTTING_DOWN', 'The server is shutting down; try again in a moment');
    default:
      return internalProblem();
  }
}

function readPath(request: FastifyRequest): string {
  return request.url.split('?')[0];
}

/** The reason may name paths and queries: it goes to the log, not to the client. */
function internalProblem(): ProblemError {
  return new ProblemError('INTERNAL', 'The request failed inside the server; its log has the reason');
}

function storeProblem(error: StoreError): ProblemError {
  if (error.retriable) return new ProblemError('STORE_UNAVAILABLE', error.message);
  return internalProblem();
}

/** The HTTP status that Nest and Fastify put on the errors they throw; 500 for any other error. */
function readStatus(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  const status = (error as { readonly statusCode?: unknown } | null)?.statusCode;
  return typeof status === 'number' ? status : 500;
}
