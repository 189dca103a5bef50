# SPDX-License-Identifier: Apache-2.0
"""The messages and calls of the engine API, made at import from the descriptor file that the build writes next to this module.

A descriptor file has no version of its own, so one package works with every protobuf from 3.21 on; code that protoc generates does not.
"""
from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import tempfile
from types import SimpleNamespace
from typing import Any, Callable

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_HERE = pathlib.Path(__file__).resolve().parent
_FILE = "engine.proto"
_PACKAGE = "io.tierlog.engine.v1"


def _descriptors() -> bytes:
    """Of an installed package; in a checkout, of the Maven build or of a protoc on the PATH."""
    packaged = _HERE / "engine.desc"
    if packaged.is_file():
        return packaged.read_bytes()
    schemas = _HERE.parents[2] / "schemas" / "engine"
    source = schemas / "src" / "main" / "proto" / "io" / "tierlog" / "engine" / "v1" / _FILE
    built = schemas / "target" / "engine.desc"
    if built.is_file() and (not source.is_file() or built.stat().st_mtime >= source.stat().st_mtime or shutil.which("protoc") is None):
        return built.read_bytes()
    if not source.is_file():
        raise ImportError("tierlog/engine.desc is missing: install the wheel that node-agent/vllm/build-wheel makes")
    with tempfile.TemporaryDirectory() as made:
        out = os.path.join(made, "engine.desc")
        try:
            subprocess.run(["protoc", f"-I{source.parent}", f"--descriptor_set_out={out}", _FILE], check=True)
        except (OSError, subprocess.CalledProcessError) as e:
            raise ImportError(f"the messages of the engine API are not built: run 'mvn -pl schemas/engine compile', or install protoc ({e})") from e
        return pathlib.Path(out).read_bytes()


def _load() -> Any:
    pool = descriptor_pool.DescriptorPool()
    files = descriptor_pb2.FileDescriptorSet.FromString(_descriptors())
    for file in files.file:
        if file.package == _PACKAGE:
            pool.Add(file)
            return pool.FindFileByName(file.name)
    raise ImportError(f"the descriptor file has no {_PACKAGE}")


_DESCRIPTOR = _load()
SERVICE = _DESCRIPTOR.services_by_name["EngineService"]


def _message_class(descriptor: Any) -> Any:
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(descriptor.file.pool).GetPrototype(descriptor)


#: Message classes and enum values by name: ``messages.SubmitRequest(...)``.
messages: Any = SimpleNamespace(**{name: _message_class(found) for name, found in _DESCRIPTOR.message_types_by_name.items()})
for _enum in _DESCRIPTOR.enum_types_by_name.values():
    for _value in _enum.values:
        setattr(messages, _value.name, _value.number)


def stub(channel: Any) -> Any:
    """A callable for each call of the service, as generated code would have."""
    calls: dict[str, Callable[..., Any]] = {}
    for method in SERVICE.methods:
        kind = channel.unary_stream if method.name in ("Open", "Join") else channel.unary_unary
        calls[method.name] = kind(
            f"/{SERVICE.full_name}/{method.name}",
            request_serializer=_message_class(method.input_type).SerializeToString,
            response_deserializer=_message_class(method.output_type).FromString)
    return SimpleNamespace(**calls)
