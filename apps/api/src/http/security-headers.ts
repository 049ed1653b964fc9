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

/** Answers that a browser never runs as a page: JSON, scripts and style sheets. */
const NO_PAGE = /^(application\/(problem\+)?json|(application|text)\/javascript|text\/css)(;|$)/;
/** Headers that say something of a page only: half a kilobyte of each of the 60 answers that the page of a run asks for. */
const PAGE_HEADERS = [
  'content-security-policy',
  'cross-origin-opener-policy',
  'origin-agent-cluster',
  'x-dns-prefetch-control',
  'x-download-options',
  'x-frame-options',
  'x-permitted-cross-domain-policies',
  'x-xss-protection',
];

/** Sends helmet's security headers with every answer, errors included; what is no page has only those that are not about pages. */
export async function registerSecurityHeaders(server: FastifyInstance): Promise<void> {
  await server.register(helmet, OPTIONS);
  server.addHook('onSend', (_, reply, payload, done) => {
    const type = reply.getHeader('content-type');
    if (typeof type === 'string' && NO_PAGE.test(type))
      for (const name of PAGE_HEADERS) reply.raw.removeHeader(name);
    done(null, payload);
  });
}
