# SPDX-License-Identifier: Apache-2.0
"""Where a block lies in vLLM's tensors, and how the agent opens their memory. All code that knows devices is here.

vLLM's KV tensors are permuted views: what counts is strides, never the shape alone. The dimension of blocks is found, what is contiguous below it
is a segment, and every further dimension repeats it.
"""
from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from typing import Any, Iterable, Optional

from tierlog.messages import messages


class LayoutError(ValueError):
    """The memory cannot be handed to the agent; the message says why and what to change."""


@dataclass(frozen=True)
class Piece:
    """Segments of a block: at ``offset + block * block_stride + i * segment_stride``, in bytes from the first byte of the tensor."""

    offset: int
    block_stride: int
    segment_bytes: int
    segment_stride: int
    segments: int

    def end(self, blocks: int) -> int:
        return self.offset + (blocks - 1) * self.block_stride + (self.segments - 1) * self.segment_stride + self.segment_bytes


@dataclass(frozen=True)
class Table:
    """How the blocks of one tensor lie. ``order`` is what the bytes of a block mean: its dimensions, outermost first, as (dimension, size)."""

    pieces: tuple[Piece, ...]
    order: tuple[tuple[int, int], ...]

    def block_bytes(self) -> int:
        return sum(piece.segment_bytes * piece.segments for piece in self.pieces)


def _block_dimension(shape: list[int], blocks: int, cross_layer: bool) -> tuple[int, int]:
    """The dimension that counts blocks, and how many of its rows are one block."""
    places = (0, 1, 2) if cross_layer else (0, 1)
    for exact in (True, False):
        found = [d for d in places if d < len(shape)
                 and (shape[d] == blocks if exact else shape[d] > blocks and shape[d] % blocks == 0)]
        if cross_layer and len(found) > 1 and found[0] == 0:
            found = found[1:]  # the first dimension counts layers
        if len(found) > 1 and shape[0] == 2:
            if not cross_layer and shape[:2] == [2, 2]:
                raise LayoutError(f"a KV tensor of shape {shape} with {blocks} blocks can be read in two ways: give vLLM more blocks")
            found = [1]  # (2, blocks, ...): K and V come first
        if found:
            return found[0], shape[found[0]] // blocks
    raise LayoutError(f"a KV tensor of shape {shape} has no dimension of {blocks} blocks: this version of vLLM has a layout that is not known")


def table(shape: Iterable[int], stride: Iterable[int], item: int, blocks: int, cross_layer: bool = False) -> Table:
    """Finds how blocks lie.

    :param item: bytes of an element
    :raises LayoutError: when the tensor cannot be understood
    """
    sizes, strides = list(shape), [s * item for s in stride]
    at, rows = _block_dimension(sizes, blocks, cross_layer)
    block_stride = strides[at] * rows
    inner = [(strides[d], sizes[d], d) for d in range(len(sizes)) if d != at and sizes[d] > 1]
    if rows > 1:
        inner.append((strides[at], rows, at))
    inner.sort(key=lambda one: (one[0], one[1]))
    run, outer = item, []
    for width, size, dimension in inner:
        if width == run and not outer:
            run *= size
        elif outer and width == outer[-1][0] * outer[-1][1]:
            outer[-1] = (outer[-1][0], outer[-1][1] * size)  # two dimensions that step alike are one
        else:
            outer.append((width, size))
    width, count = outer[0] if outer else (run, 1)
    offsets = [0]
    for step, size in outer[1:]:
        offsets = [begin + i * step for i in range(size) for begin in offsets]
    pieces = tuple(Piece(offset, block_stride, run, width, count) for offset in sorted(offsets))
    order = tuple((dimension - (dimension > at), size) for _, size, dimension in reversed(inner))
    found = Table(pieces, order)
    whole = item
    for d, size in enumerate(sizes):
        whole *= size if d != at else rows
    if found.block_bytes() != whole:
        raise LayoutError(f"a KV tensor of shape {sizes} and strides {list(stride)} shares bytes between its elements")
    return found


@dataclass
class Memory:
    """One allocation, as the agent opens it. ``address`` is the first byte of the region in this process."""

    address: int
    size: int
    path: str = ""
    handle: bytes = b""


def _storage(tensor: Any) -> Any:
    if hasattr(tensor, "untyped_storage"):
        return tensor.untyped_storage()
    typed = tensor.storage()
    return typed.untyped() if hasattr(typed, "untyped") else typed


def _mapped_file(address: int) -> Optional[tuple[str, int, int]]:
    """Path, address of its first byte and end of the shared mapping at an address; None when there is none that others can open."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        for line in maps:
            words = line.split(maxsplit=5)
            begin, end = (int(word, 16) for word in words[0].split("-"))
            if begin <= address < end:
                path = words[5].rstrip("\n") if len(words) > 5 else ""
                if words[1].endswith("s") and path.startswith("/") and not path.endswith("(deleted)") and os.path.isfile(path):
                    return path, begin - int(words[2], 16), end
                return None
    return None


def _shared(tensor: Any) -> Memory:
    """The stand-in for CUDA IPC: memory of the CPU, as a file that the agent maps. Private memory is moved to shared memory first."""
    storage = _storage(tensor)
    size = storage.nbytes() if hasattr(storage, "nbytes") else storage.size()
    found = _mapped_file(tensor.data_ptr())
    if found:
        path, base, _ = found
        return Memory(base, storage.data_ptr() - base + size, path=path)
    shared = storage._share_fd_cpu_()  # pylint: disable=protected-access  # the call behind Tensor.share_memory_()
    if shared[0] < 0:
        raise LayoutError("the KV cache is in shared memory without a file that the agent can open: allocate it in /dev/shm, or not shared")
    return Memory(_storage(tensor).data_ptr(), size, path=f"/proc/{os.getpid()}/fd/{shared[0]}")


def _cuda(tensor: Any) -> Memory:
    if "expandable_segments:true" in os.environ.get("PYTORCH_CUDA_ALLOC_CONF", "").lower():
        raise LayoutError("CUDA IPC cannot share expandable segments: start vLLM without expandable_segments:True in PYTORCH_CUDA_ALLOC_CONF")
    storage = _storage(tensor)
    try:
        _, handle, size, offset = storage._share_cuda_()[:4]  # pylint: disable=protected-access  # there is no public call for it
    except RuntimeError as e:
        raise LayoutError(f"the KV cache has no CUDA IPC handle ({e}): sleep mode and memory pools cannot be shared, start vLLM without them") from e
    if len(handle) == 66:  # two bytes before the handle say of what kind the memory is
        if handle[1:2] != b"c":
            raise LayoutError("the KV cache is not in memory of cudaMalloc, which alone has a CUDA IPC handle: start vLLM without sleep mode")
        handle = handle[2:]
    if len(handle) != 64:
        raise LayoutError(f"this torch gives CUDA IPC handles of {len(handle)} bytes, 64 are known")
    return Memory(storage.data_ptr() - offset, offset + size, handle=bytes(handle))


@dataclass
class Pool:
    """All KV of one rank, ready for registration."""

    blocks: int
    block_bytes: int
    #: Digest of what the bytes of a block mean; equal for engines that may share blocks.
    layout: str
    regions: list[Memory] = field(default_factory=list)
    layers: list[tuple[str, int, int, Piece]] = field(default_factory=list)  # name, region, first byte of the tensor in it, piece
    #: Whether the memory is of a GPU, so that calls wait for its streams.
    cuda: bool = False
    #: The tensors, so that their memory stays.
    tensors: list[Any] = field(default_factory=list)

    def join(self, instance: str, session: str, rank: int, configuration: dict[str, str]) -> Any:
        """The call that hands the memory to the agent. The size of a block over all ranks is the agent's to compare."""
        regions = [messages.MemoryRegion(base=one.address, bytes=one.size, **({"ipc_handle": one.handle} if one.handle else
                                                                             {"shared_memory_path": one.path})) for one in self.regions]
        layers = [messages.KvLayer(
            name=name, region=region, offset=first + piece.offset, size=piece.end(self.blocks) - piece.offset, blocks=self.blocks,
            segment_bytes=piece.segment_bytes, segment_stride=piece.segment_stride, segments=piece.segments, block_stride=piece.block_stride)
            for name, region, first, piece in self.layers]
        buffers = messages.RegisterBuffersRequest(
            session=session, pages=self.blocks, regions=regions, layers=layers, configuration=configuration)
        return messages.JoinRequest(instance=instance, rank=rank, buffers=buffers, layout=self.layout)


def pool(tensors: dict[str, Any], blocks: int, cross_layer: bool = False) -> Pool:
    """Describes the KV tensors of a rank.

    :param tensors: by the names of their layers, which give the order of the layers in a block
    :raises LayoutError: when a tensor is not understood, or its memory cannot be shared
    """
    if not tensors:
        raise LayoutError("vLLM has registered no KV tensors")
    if blocks < 1:
        raise LayoutError("vLLM's configuration does not say how many blocks there are (kv_cache_config.num_blocks)")
    made = Pool(blocks, 0, "")
    by_storage: dict[int, int] = {}
    seen: set[tuple[Any, ...]] = set()
    meaning = []
    for name in tensors:
        tensor = tensors[name]
        if isinstance(tensor, (list, tuple)):
            raise LayoutError(f"layer {name} has several tensors (a Mamba or hybrid layer), which is not supported")
        found = table(tensor.shape, tensor.stride(), tensor.element_size(), blocks, cross_layer)
        if _storage(tensor).data_ptr() not in by_storage:
            memory = _cuda(tensor) if tensor.is_cuda else _shared(tensor)
            by_storage[_storage(tensor).data_ptr()] = len(made.regions)
            made.regions.append(memory)
            made.cuda = made.cuda or bool(tensor.is_cuda)
        region = by_storage[_storage(tensor).data_ptr()]
        view = (tensor.data_ptr(), tuple(tensor.shape), tuple(tensor.stride()))
        made.tensors.append(tensor)
        meaning.append([str(tensor.dtype), found.order, len(seen) if view not in seen else -1])
        if view in seen:
            continue  # layers that share their KV
        seen.add(view)
        first = tensor.data_ptr() - made.regions[region].address
        for number, piece in enumerate(found.pieces):
            made.layers.append((f"{len(seen) - 1}.{number}.{name}"[:256], region, first, piece))
        made.block_bytes += found.block_bytes()
    text = json.dumps([list(tensors) if not cross_layer else len(meaning), meaning], separators=(",", ":"))
    made.layout = ("cross-layer " if cross_layer else "per-layer ") + hashlib.sha256(text.encode()).hexdigest()[:32]
    return made
