"""Hooks of Schemathesis for `test/system/api-document.spec.ts`: it does not know bodies of one JSON value a line."""

import json

import schemathesis


@schemathesis.serializer("application/x-ndjson")
def lines(_context, value):
    if isinstance(value, str):
        return value.encode(errors="surrogatepass")
    values = value if isinstance(value, list) else [value]
    return "\n".join(json.dumps(one) for one in values).encode()
