import { Body, Controller, Delete, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Access } from './access.js';
import { SessionRequest, SessionStatus } from './session.dto.js';
import { SessionService } from './session.service.js';

@ApiTags('session')
@Controller('api/session')
export class SessionController {
  constructor(private readonly sessions: SessionService) {}

  @Get()
  @Access('open')
  @ApiOperation({ summary: 'Says whether requests need a key, and which one this request has' })
  @ApiOkResponse({ type: SessionStatus })
  status(@Req() request: FastifyRequest): Promise<SessionStatus> {
    return this.sessions.status(request);
  }

  @Post()
  @Access('open')
  @ApiOperation({ summary: 'Logs a browser in by a key: answers with a cookie' })
  @HttpCode(200)
  @ApiOkResponse({ type: SessionStatus })
  logIn(
    @Body() body: SessionRequest,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SessionStatus> {
    return this.sessions.logIn(body, request, reply);
  }

  @Delete()
  @Access('open')
  @ApiOperation({ summary: 'Logs out' })
  @ApiOkResponse({ type: SessionStatus })
  logOut(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SessionStatus> {
    return this.sessions.logOut(request, reply);
  }
}
