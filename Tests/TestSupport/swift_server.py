"""OpenStack Swift with its S3 API on 127.0.0.1, all four servers in this process: strict signatures and body hashes,
conditional PUT with one winner, multipart uploads, ranges.

    swift_server.py FOLDER [--tls FOLDER]

Keeps its data in the first folder, which must be on a file system with user attributes. With --tls it makes a
certificate authority (ca.pem) and a certificate of that for localhost, and serves HTTPS. Prints {"port": …} when it
answers, and ends with its input. While its folder has a file `no-deletes`, it denies deletes, as by a bucket's policy. The
account is test:tester with the secret testing; the bucket `cameo` exists.
"""

import eventlet

eventlet.monkey_patch()

import argparse
import json
import logging
import os
import socket
import subprocess
import sys

import eventlet.wsgi
from swift.common import utils, wsgi
from swift.common.ring import RingBuilder
from swift.common.storage_policy import reload_storage_policies

COMMON = """
[DEFAULT]
devices = {folder}/devices
mount_check = false
swift_dir = {folder}
fallocate_reserve = 0
disable_fallocate = true
conn_timeout = 60
node_timeout = 60
container_update_timeout = 60
"""

PROXY = """
[DEFAULT]
swift_dir = {folder}
conn_timeout = 60
node_timeout = 60
[pipeline:main]
pipeline = catch_errors cache listing_formats s3api tempauth copy slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:9
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
s3_acl = false
location = us-east-1
storage_domain = localhost
check_bucket_owner = false
min_segment_size = 5242880
allow_multipart_uploads = true
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
rate_limit_after_segment = 1000
[filter:dlo]
use = egg:swift#dlo
"""

SERVER = """
{common}
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
"""


def listening():
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("127.0.0.1", 0))
    server.listen(128)
    return server


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def certificate(folder):
    """A certificate authority of our own and what it signed; the paths of the chain and its key."""
    run = lambda *words: subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)
    new = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    run(*new, "-x509", "-subj", "/CN=Test Authority", "-keyout", "ca.key", "-out", "ca.pem")
    write(f"{folder}/names", "subjectAltName=DNS:localhost,DNS:cameo.localhost,IP:127.0.0.1\n")
    run(*new[:-2], "-subj", "/CN=localhost", "-keyout", "server.key", "-out", "server.csr")
    run("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
        "-extfile", "names", "-out", "server.pem")
    return f"{folder}/server.pem", f"{folder}/server.key"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--tls")
    options = parser.parse_args()
    folder = os.path.abspath(options.folder)
    for device in ["sda", "sdb", "sdc"]:
        os.makedirs(f"{folder}/devices/{device}", exist_ok=True)
    write(f"{folder}/swift.conf", "[swift-hash]\nswift_hash_path_prefix = a\nswift_hash_path_suffix = b\n")
    utils.SWIFT_CONF_FILE = f"{folder}/swift.conf"
    utils.HASH_PATH_PREFIX = utils.HASH_PATH_SUFFIX = b""
    utils.validate_hash_conf()
    reload_storage_policies()
    logger = logging.getLogger("wsgi")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False

    for kind in ["account", "container", "object"]:
        server = listening()
        builder = RingBuilder(4, 1, 0)
        builder.add_dev({"region": 1, "zone": 1, "ip": "127.0.0.1", "port": server.getsockname()[1], "device": "sda",
                         "weight": 1})
        builder.rebalance()
        builder.get_ring().save(f"{folder}/{kind}.ring.gz")
        path = f"{folder}/{kind}-server.conf"
        write(path, SERVER.format(common=COMMON.format(folder=folder), kind=kind))
        eventlet.spawn(eventlet.wsgi.server, server, wsgi.loadapp(path), logger)

    path = f"{folder}/proxy-server.conf"
    write(path, PROXY.format(folder=folder))
    application = wsgi.loadapp(path)
    server = listening()
    port = server.getsockname()[1]
    if options.tls:
        chain, key = certificate(options.tls)
        server = eventlet.wrap_ssl(server, certfile=chain, keyfile=key, server_side=True)
    eventlet.spawn(eventlet.wsgi.server, server, denying(application, f"{folder}/no-deletes"), logger)
    make_bucket(application)
    print(json.dumps({"port": port}), flush=True)
    eventlet.tpool.execute(sys.stdin.read)


def denying(application, mark):
    def answer(environment, start):
        if environment["REQUEST_METHOD"] != "DELETE" or not os.path.exists(mark):
            return application(environment, start)
        start("403 Forbidden", [("Content-Type", "application/xml")])
        return [b"<Error><Code>AccessDenied</Code></Error>"]

    return answer


def make_bucket(application):
    answer = wsgi.make_pre_authed_request({}, "PUT", "/v1/AUTH_test/cameo").get_response(application)
    if answer.status_int // 100 != 2:
        sys.exit(f"the bucket's answer is {answer.status}: {answer.body!r}")


main()
