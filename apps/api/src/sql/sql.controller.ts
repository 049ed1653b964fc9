import { Body, Controller, Get, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { SqlRequest, SqlResult, SqlSchema } from './sql.dto.js';
import { SqlService } from './sql.service.js';

@ApiTags('sql')
@Controller('api/sql')
export class SqlController {
  constructor(private readonly sql: SqlService) {}

  @Post()
  @HttpCode(200)
  @ApiOkResponse({ type: SqlResult })
  run(@Body() request: SqlRequest): Promise<SqlResult> {
    return this.sql.run(request);
  }

  @Get('schema')
  @ApiOkResponse({ type: SqlSchema })
  schema(): Promise<SqlSchema> {
    return this.sql.schema();
  }
}
