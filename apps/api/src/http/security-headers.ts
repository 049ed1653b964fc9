import helmet, { type FastifyHelmetOptions } from '@fastify/helmet';
import type { FastifyInstance } from 'fastify';

/** Pages load nothing from other sites, and no other site may frame or read them. */
const OPTIONS: FastifyHelmetOptions = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      'default-src': ["'self'"],
      // The SQL editor adds its style sheet to the page.
      'style-src': ["'self'", "'unsafe-inline'"],
      'img-src': ["'self'", 'data:'],
      'object-src': ["'none'"],
      'base-uri': ["'none'"],
      'form-action': ["'none'"],
      'frame-ancestors': ["'none'"],
    },
  },
  xFrameOptions: { action: 'deny' },
  // The API speaks plain HTTP on loopback; whether HTTPS is required is the decision of the proxy that adds it.
  strictTransportSecurity: false,
};

/** Sends helmet's security headers with every answer, errors included. */
export async function registerSecurityHeaders(server: FastifyInstance): Promise<void> {
  await server.register(helmet, OPTIONS);
}
