import { GatewayError } from '../../http/gateway-error.js';

/**
 * Reads the address of a server that an option names.
 *
 * @throws GatewayError `OPTION_INVALID` when it is no HTTP address, has a query, or a name or password in it: addresses are shown in the log and at `/health`
 */
export function upstreamAddress(
  option: string,
  address: string,
  { example, keyOption }: { readonly example: string; readonly keyOption: string },
): URL {
  const url = URL.canParse(address) ? new URL(address) : null;
  // Neither what comes before an @ nor a query is shown: both may be secrets.
  const shown = address.replace(/\/\/.*@/s, '//').replace(/[?#].*/s, '');
  if (url !== null && (url.username !== '' || url.password !== '')) {
    const advice = `name an environment variable that has the key with ${keyOption}`;
    throw new GatewayError(
      'OPTION_INVALID',
      `${option}: the address "${shown}" must have no name or password before its host; ${advice}`,
    );
  }
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '') {
    throw new GatewayError('OPTION_INVALID', `${option}: "${shown}" must be an address such as ${example}`);
  }
  return url;
}
