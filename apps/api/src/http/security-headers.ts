import helmet from '@fastify/helmet';
import type { FastifyInstance } from 'fastify';

/** Security headers. The pages load nothing from elsewhere; inline styles are the SQL editor's. */
export async function registerSecurityHeaders(server: FastifyInstance): Promise<void> {
  await server.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        styleSrc: ["'self'", "'unsafe-inline'"],
        imgSrc: ["'self'", 'data:'],
        objectSrc: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
    },
    // Served over plain HTTP on loopback; a proxy that adds TLS sets this itself.
    strictTransportSecurity: false,
  });
}
