"""Writes the two safetensors files of this folder from stats.json, as LeRobot's processors save their state."""

import json
import struct
from pathlib import Path

folder = Path(__file__).parent
stats = json.loads((folder / "stats.json").read_text())


def numbers(value):
    return [x for item in value for x in numbers(item)] if isinstance(value, list) else [value]


def shape(value):
    return [len(value), *shape(value[0])] if isinstance(value, list) else []


def write(name, keys):
    header, data = {}, b""
    for key in keys:
        for statistic, value in sorted(stats[key].items()):
            packed = struct.pack(f"<{len(numbers(value))}f", *numbers(value))
            header[f"{key}.{statistic}"] = {
                "dtype": "F32",
                "shape": shape(value),
                "data_offsets": [len(data), len(data) + len(packed)],
            }
            data += packed
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    (folder / name).write_bytes(struct.pack("<Q", len(text)) + text + data)


write("policy_preprocessor_step_3_normalizer_processor.safetensors", list(stats))
write("policy_postprocessor_step_0_unnormalizer_processor.safetensors", ["action"])
