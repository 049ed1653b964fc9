"""SQL over HTTP: one SELECT in, an Arrow table out."""

from datetime import datetime
from typing import Any

import httpx
import pyarrow as pa

from retrace.errors import RetraceError, raise_for_problem

ARROW_STREAM = "application/vnd.apache.arrow.stream"
# One less than the server gives in one answer, so that one row more shows that there are more.
MAX_ROWS = 999_999


def sql_body(query: str, max_rows: int) -> dict[str, Any]:
    """Return the body that asks for one row more than may come, which shows whether there are more."""
    return {"query": query, "maxRows": max_rows + 1}


def sql_params(as_of: str | datetime | None) -> dict[str, str]:
    """Return the parameters that ask for what was known then; a time without a zone is in UTC."""
    if as_of is None:
        return {}
    return {"asOf": as_of if isinstance(as_of, str) else as_of.isoformat()}


def read_table(response: httpx.Response, max_rows: int = MAX_ROWS) -> pa.Table:
    """Return the table that Retrace answered with; its columns lie in the bytes of the answer.

    Raises RetraceError for a refusal, and when the result has more rows than were asked for.
    """
    raise_for_problem(response)
    content_type = response.headers.get("content-type", "")
    if not content_type.startswith(ARROW_STREAM):
        detail = f"the answer is {content_type or 'of no type'}, not {ARROW_STREAM}: is this a Retrace of this version?"
        raise RetraceError(response.status_code, "UNEXPECTED_ANSWER", detail)
    table = pa.ipc.open_stream(pa.py_buffer(response.content)).read_all()
    if table.num_rows > max_rows:
        detail = f"the result has more than {max_rows} rows: raise max_rows, or read less"
        raise RetraceError(response.status_code, "RESULT_TRUNCATED", detail)
    return table
