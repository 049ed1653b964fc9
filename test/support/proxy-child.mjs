/** A proxy as a process of its own, to be killed: `proxy-child.mjs '<ProxyConfig as JSON>'`. It prints its address. */
import { startProxy } from '../../apps/gateway/dist/proxy/index.js';

const proxy = await startProxy(JSON.parse(process.argv[2]), {
  warn: (message) => {
    console.error(message);
  },
});
console.log(proxy.url);
