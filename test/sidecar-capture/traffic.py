"""Answers and dials in a network namespace; reads the original destination, which Node cannot."""

import json
import os
import socket
import struct
import sys
import threading

ORIGINAL_DST = 80
SOCKETS = {
    "tcp": (socket.SOCK_STREAM, 0),
    "udp": (socket.SOCK_DGRAM, 0),
    # Raw, since a kernel need not have SCTP.
    "sctp": (socket.SOCK_RAW, socket.IPPROTO_SCTP),
}


def listener(family, host, port, kind):
    sock = socket.socket(family, kind)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    sock.bind((host, port))
    return sock


def original(conn):
    """Where the caller dialled, as conntrack remembers it."""
    if conn.family == socket.AF_INET6:
        data = conn.getsockopt(socket.IPPROTO_IPV6, ORIGINAL_DST, 28)
        return f"[{socket.inet_ntop(socket.AF_INET6, data[8:24])}]:{struct.unpack('!H', data[2:4])[0]}"
    data = conn.getsockopt(socket.SOL_IP, ORIGINAL_DST, 16)
    return f"{socket.inet_ntoa(data[4:8])}:{struct.unpack('!H', data[2:4])[0]}"


def answer_tcp(sock, name, tells_original):
    sock.listen(64)
    while True:
        conn, _ = sock.accept()
        text = f"{name} {original(conn)}" if tells_original else f"{name} {conn.getsockname()[1]}"
        conn.sendall(text.encode())
        conn.close()


def answer_udp(sock, name):
    while True:
        _, caller = sock.recvfrom(100)
        sock.sendto(f"{name} udp {sock.getsockname()[1]}".encode(), caller)


def listen(rows):
    """Serves until standard input ends; each row: name, host, port, udp, original."""
    for row in rows:
        family = socket.AF_INET6 if ":" in row["host"] else socket.AF_INET
        kind = socket.SOCK_DGRAM if row.get("udp") else socket.SOCK_STREAM
        sock = listener(family, row["host"], row["port"], kind)
        args = (sock, row["name"]) if row.get("udp") else (sock, row["name"], row.get("original", False))
        threading.Thread(target=answer_udp if row.get("udp") else answer_tcp, args=args, daemon=True).start()
    print("ready", flush=True)
    sys.stdin.read()
    os._exit(0)


def sctp_init(port):
    """The first packet of an association; its checksum may be wrong: it is refused before anybody looks."""
    chunk = struct.pack("!BBHIIHHI", 1, 0, 20, 1, 65536, 1, 1, 1)
    return struct.pack("!HHII", 40000, port, 0, 0) + chunk


def dial(row):
    """What the other side says, or how it refuses. The uid counts when the socket is made."""
    host, port = row["to"]
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    os.seteuid(row.get("uid", 0))
    sock = socket.socket(family, *SOCKETS[row.get("over", "tcp")])
    os.seteuid(0)
    try:
        sock.settimeout(3)
        if row.get("mark"):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, row["mark"])
        if row.get("source"):
            sock.bind((row["source"], 0))
        if row.get("over") == "sctp":
            sock.connect(socket.getaddrinfo(host, 0, family)[0][4])
            sock.send(sctp_init(port))
        else:
            sock.connect(socket.getaddrinfo(host, port, family)[0][4])
        if row.get("over") == "udp":
            sock.send(b"?")
        return sock.recv(200).decode(errors="replace") or "closed"
    except ConnectionRefusedError:
        return "refused"
    except socket.timeout:
        return "timeout"
    except OSError as error:
        return error.strerror
    finally:
        sock.close()


if sys.argv[1] == "listen":
    listen(json.loads(sys.argv[2]))
else:
    print(json.dumps([dial(row) for row in json.loads(sys.argv[2])]))
