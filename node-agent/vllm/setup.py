# SPDX-License-Identifier: Apache-2.0
"""The package tierlog-vllm: pure Python. The messages of the engine API come in as a descriptor file (see build-wheel)."""
import pathlib

from setuptools import setup

HERE = pathlib.Path(__file__).resolve().parent

setup(
    name="tierlog-vllm",
    version="0.1.0",
    description="Tierlog as a KV cache connector of vLLM and a storage backend of SGLang, and a Python client of Tierlog's engine API",
    long_description=(HERE / "../../docs/vllm.md").read_text(encoding="utf-8") if (HERE / "../../docs/vllm.md").is_file() else "",
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.9",
    packages=["tierlog", "tierlog_vllm", "tierlog_sglang"],
    package_data={"tierlog": ["engine.desc", "py.typed"], "tierlog_vllm": ["py.typed"], "tierlog_sglang": ["py.typed"]},
    install_requires=["grpcio>=1.51", "protobuf>=3.21"],
    zip_safe=False,
)
