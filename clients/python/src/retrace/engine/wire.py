"""Bodies of the wire: Arrow streams with token ids in, and with float32 columns in and out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from .errors import EngineError, invalid
from .optimizer import Applied, StepOptions
from .options import Fields, is_number
from .shares import Sequences

ARROW = "application/vnd.apache.arrow.stream"

DERIVATIVES = {
    "dLogprob": "logprob",
    "dEntropy": "entropy",
    "dValue": "value",
    "dTopLogprob": "topLogprob",
}


def read_table(body: bytes, required: Sequence[str], optional: Sequence[str] = ()) -> pa.Table:
    """Decode a stream that has the required columns, perhaps the optional ones, and no others."""
    try:
        table = pa.ipc.open_stream(body).read_all()
    except (pa.ArrowInvalid, OSError) as error:
        raise EngineError("INVALID_REQUEST", f"the body is not an Arrow stream: {error}") from error
    for name in required:
        if name not in table.column_names:
            raise invalid(
                name, None, f"a column of the body, which has {', '.join(table.column_names) or 'none'}"
            )
    for name in table.column_names:
        if name not in required and name not in optional:
            raise invalid(name, "a column", f"one of {', '.join([*required, *optional])}")
        if table[name].null_count:
            raise invalid(name, "null in some rows", "a value in every row")
    return table


def read_wanted(body: bytes, num_chosen: int) -> tuple[Sequences, NDArray[np.bool_], NDArray[np.int32]]:
    """Decode sequences, which of their tokens are wanted, and so many chosen ids for each of these, [M, k].

    Wanted are those masked 1 that aren't the first of their sequence.
    """
    table = read_table(body, ["tokens", "mask", *(["topIds"] if num_chosen else [])])
    sequences = _sequences(table)
    wanted = _wanted(table, sequences)
    num_wanted = int(np.count_nonzero(wanted))
    if not num_chosen:
        return sequences, wanted, np.empty((num_wanted, 0), np.int32)
    ids, lengths = _flat(table, "topIds", pa.int32())
    before = np.concatenate(([0], np.cumsum(wanted, dtype=np.int64)))
    expected = num_chosen * np.diff(before[sequences.offsets])
    if not np.array_equal(lengths, expected):
        rule = f"{num_chosen} ids in every row for each of its wanted tokens"
        raise invalid("topIds", f"{len(ids)} ids", rule)
    return sequences, wanted, ids.reshape(num_wanted, num_chosen)


def read_sequences(body: bytes) -> Sequences:
    """Decode sequences."""
    return _sequences(read_table(body, ["tokens"]))


def _sequences(table: pa.Table) -> Sequences:
    tokens, lengths = _flat(table, "tokens", pa.int32())
    # torch wants arrays that may be written to, and Arrow's may not.
    tokens = tokens.copy()
    offsets = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    return Sequences(tokens, offsets)


def _wanted(table: pa.Table, sequences: Sequences) -> NDArray[np.bool_]:
    mask, lengths = _flat(table, "mask", pa.uint8())
    if not np.array_equal(sequences.lengths, lengths):
        raise invalid("mask", "of other lengths than tokens", "as long as tokens in every row")
    wanted: NDArray[np.bool_] = mask != 0
    wanted[sequences.offsets[:-1][lengths > 0]] = False
    return wanted


def _flat(table: pa.Table, name: str, kind: pa.DataType) -> tuple[NDArray[Any], NDArray[np.int64]]:
    column = table[name]
    if not (pa.types.is_list(column.type) and column.type.value_type == kind):
        raise invalid(name, str(column.type), f"list<{kind}>")
    values = pc.list_flatten(column).combine_chunks()
    if values.null_count:
        raise invalid(name, "null at some tokens", "a value at every token")
    lengths = pc.list_value_length(column).combine_chunks().to_numpy(zero_copy_only=False)
    return values.to_numpy(zero_copy_only=False), lengths.astype(np.int64)


def read_derivatives(body: bytes) -> dict[str, NDArray[np.float32]]:
    """Decode the derivatives of a loss, by the output that they belong to."""
    table = read_table(body, [], list(DERIVATIVES))
    found: dict[str, NDArray[np.float32]] = {}
    for name, output in DERIVATIVES.items():
        if name not in table.column_names:
            continue
        values = _numbers(table, name)
        if not np.isfinite(values).all():
            place = int(np.flatnonzero(~np.isfinite(values))[0])
            raise invalid(f"{name}[{place}]", float(values.flat[place]), "finite")
        found[output] = values
    return found


def _numbers(table: pa.Table, name: str) -> NDArray[np.float32]:
    """[M], or for `dTopLogprob` [M, k]."""
    column = table[name].combine_chunks()
    if name != "dTopLogprob":
        if column.type != pa.float32():
            raise invalid(name, str(column.type), "float32")
        single: NDArray[np.float32] = column.to_numpy(zero_copy_only=False)
        return single
    if not (pa.types.is_fixed_size_list(column.type) and column.type.value_type == pa.float32()):
        raise invalid(name, str(column.type), "fixed_size_list<float32>")
    flat = column.flatten()
    if flat.null_count:
        raise invalid(name, "null at some ids", "a value at every id")
    values: NDArray[np.float32] = flat.to_numpy(zero_copy_only=False)
    return values.reshape(len(column), column.type.list_size)


def write_columns(columns: Mapping[str, NDArray[Any]]) -> bytes:
    """Encode columns of one length as a stream of one record batch; those with several numbers a row are lists of a fixed size."""
    arrays = [_array(column) for column in columns.values()]
    fields = [pa.field(name, array.type, nullable=False) for name, array in zip(columns, arrays, strict=True)]
    schema = pa.schema(fields)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
    return bytes(sink.getvalue())


def _array(column: NDArray[Any]) -> pa.Array:
    flat = pa.array(column.ravel())
    if column.ndim == 1:
        return flat
    kind = pa.list_(pa.field("item", flat.type, nullable=False), column.shape[1])
    return pa.FixedSizeListArray.from_arrays(flat, type=kind)


TRAINED_PARTS = ("all", "policy", "critic")


def read_step(body: object) -> StepOptions:
    """Check the body of `step`."""
    fields = Fields(body, "step")

    def limit(name: str, default: Any) -> Any:
        return fields.take(
            name, lambda v: v is None or (is_number(v) and v > 0), "a positive number or null", default
        )

    rate = fields.number("learningRate", lambda v: v >= 0, "0 or more")
    critic_rate = fields.take("criticLearningRate", lambda v: is_number(v) and v >= 0, "0 or more", None)
    max_norm = limit("maxGradientNorm", None)
    options = StepOptions(
        learning_rate=rate,
        critic_learning_rate=rate if critic_rate is None else float(critic_rate),
        max_norm=max_norm,
        critic_max_norm=limit("criticMaxGradientNorm", max_norm),
        skip_above=limit("skipNormAbove", None),
        trains=fields.take("trains", lambda v: v in TRAINED_PARTS, '"all", "policy" or "critic"', "all"),
    )
    fields.finish()
    return options


def write_applied(applied: Applied) -> dict[str, Any]:
    """The answer of `step`; JSON has no infinity and no NaN, which become null."""

    def number(value: float | None) -> float | None:
        return value if value is not None and math.isfinite(value) else None

    return {
        "isApplied": applied.is_applied,
        "gradientNorm": number(applied.gradient_norm),
        "criticGradientNorm": number(applied.critic_gradient_norm),
    }
