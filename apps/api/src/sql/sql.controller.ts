import { Body, Controller, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { brokenOff } from '../http/broken-off.js';
import { Access, AccessAsOf } from '../keys/access.js';
import { SqlPlan } from './sql-plan.dto.js';
import { ARROW_STREAM, ExplainRequest, SqlRequest, SqlResult, SqlSchema } from './sql.dto.js';
import { SqlService } from './sql.service.js';

@ApiTags('sql')
@Controller('api/sql')
export class SqlController {
  constructor(private readonly sql: SqlService) {}

  @Post()
  @AccessAsOf('sql')
  @ApiOperation({ summary: 'Runs one SELECT as a read-only user, within limits' })
  @HttpCode(200)
  @ApiOkResponse({
    type: SqlResult,
    description: `With \`Accept: ${ARROW_STREAM}\` the answer is the rows, as an Arrow stream`,
  })
  async run(
    @Body() request: SqlRequest,
    @Req() { headers }: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SqlResult | Uint8Array> {
    if (!headers.accept?.includes(ARROW_STREAM)) return this.sql.run(request);
    const bytes = await this.sql.runAsArrow(request);
    reply.type(ARROW_STREAM);
    return bytes;
  }

  @Post('explain')
  @AccessAsOf('sql')
  @ApiOperation({
    summary: 'Tells what a SELECT will read, and how it is answered',
    description:
      'The query is checked as if it ran. It does not run, except for subqueries that the plan depends on, which have the limits of one query.',
  })
  @HttpCode(200)
  @ApiOkResponse({ type: SqlPlan })
  explain(
    @Body() { query }: ExplainRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SqlPlan> {
    return this.sql.explain(query, brokenOff(reply));
  }

  @Get('schema')
  @Access('sql')
  @ApiOperation({ summary: 'Lists the tables and columns that SQL may read' })
  @ApiOkResponse({ type: SqlSchema })
  schema(): Promise<SqlSchema> {
    return this.sql.schema();
  }
}
