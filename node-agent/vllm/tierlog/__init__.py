# SPDX-License-Identifier: Apache-2.0
"""Python client of Tierlog's engine API. Needs grpcio 1.51 and protobuf 3.21 or later."""

__version__ = "0.1.0"
