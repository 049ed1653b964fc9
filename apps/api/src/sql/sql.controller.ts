import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { SqlRequest, SqlResult, SqlSchema } from './sql.dto.js';
import { SqlService } from './sql.service.js';

@ApiTags('sql')
@Controller('api/sql')
export class SqlController {
  constructor(private readonly sql: SqlService) {}

  @Post()
  @ApiOperation({ summary: 'Runs one SELECT as a read-only user, within limits' })
  @HttpCode(200)
  @ApiOkResponse({ type: SqlResult })
  run(@Body() request: SqlRequest): Promise<SqlResult> {
    return this.sql.run(request);
  }

  @Get('schema')
  @ApiOperation({ summary: 'Lists the tables and columns that SQL may read' })
  @ApiOkResponse({ type: SqlSchema })
  schema(): Promise<SqlSchema> {
    return this.sql.schema();
  }
}
