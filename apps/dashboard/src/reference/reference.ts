import bundleUrl from 'swagger-ui-dist/swagger-ui-bundle.js?url';
import 'swagger-ui-dist/swagger-ui.css';
import './reference.css';

interface SwaggerUiOptions {
  readonly url: string;
  readonly domNode: HTMLElement;
  readonly docExpansion: 'list';
  readonly defaultModelsExpandDepth: number;
  readonly deepLinking: boolean;
  /** Swagger's own server checks a document; null asks it nothing. */
  readonly validatorUrl: null;
}

declare global {
  interface Window {
    /** The bundle is a script of its own, already minified, which the build copies as it is. */
    readonly SwaggerUIBundle: (options: SwaggerUiOptions) => unknown;
  }
}

const target = document.getElementById('reference');
if (!target) throw new Error('reference.html has no element with id "reference"');

const dark = window.matchMedia('(prefers-color-scheme: dark)');
const { theme } = document.documentElement.dataset;
document.documentElement.classList.toggle('dark-mode', theme === undefined ? dark.matches : theme === 'dark');

const script = document.createElement('script');
script.src = bundleUrl;
script.addEventListener('load', () => {
  window.SwaggerUIBundle({
    url: '/api/openapi.json',
    domNode: target,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    deepLinking: true,
    validatorUrl: null,
  });
});
document.head.append(script);
