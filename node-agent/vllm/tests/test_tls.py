# SPDX-License-Identifier: Apache-2.0
"""The channel to an agent's port with TLS, by the variables of the environment that all programs of Tierlog have."""
import shutil
import subprocess
from concurrent import futures

import grpc
import pytest

from tierlog import stream

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl, which makes the certificates")


def _openssl(directory, *arguments):
    subprocess.run(["openssl", *arguments], cwd=directory, check=True, capture_output=True)


@pytest.fixture(name="port")
def _port(tmp_path):
    _openssl(tmp_path, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "key.pem", "-out", "cert.pem",
             "-days", "2", "-subj", "/CN=agent", "-addext", "subjectAltName=IP:127.0.0.1")
    (tmp_path / "both.pem").write_bytes((tmp_path / "key.pem").read_bytes() + (tmp_path / "cert.pem").read_bytes())
    key, cert = (tmp_path / "key.pem").read_bytes(), (tmp_path / "cert.pem").read_bytes()
    server = grpc.server(futures.ThreadPoolExecutor(2))
    port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([(key, cert)], root_certificates=cert, require_client_auth=True))
    server.start()
    yield port
    server.stop(None)


def _ready(port):
    channel = stream.open_channel(f"127.0.0.1:{port}")
    try:
        grpc.channel_ready_future(channel).result(timeout=5)
        return True
    except grpc.FutureTimeoutError:
        return False
    finally:
        channel.close()


def test_the_files_of_the_environment_are_used(port, tmp_path, monkeypatch):
    monkeypatch.setenv("TIERLOG_TLS_CA", str(tmp_path / "cert.pem"))
    monkeypatch.setenv("TIERLOG_TLS_CERTIFICATES", str(tmp_path / "both.pem"))
    assert _ready(port)
    monkeypatch.delenv("TIERLOG_TLS_CERTIFICATES")
    assert not _ready(port)


def test_a_missing_file_is_named(monkeypatch):
    monkeypatch.setenv("TIERLOG_TLS_CA", "/nowhere/ca.pem")
    with pytest.raises(OSError, match="/nowhere/ca.pem"):
        stream.open_channel("127.0.0.1:1")
    stream.open_channel("unix:/nowhere/socket").close()
