"""Where the server will listen, looked at before anything is loaded; imports nothing heavy."""

import errno
import socket


def check_port(host: str, port: int) -> None:
    """Say at once that a port cannot be used, before any weights are loaded."""
    try:
        if not 0 < port < 65536:  # the system would take the remainder
            raise OverflowError
        with socket.socket(family_of(host, port)) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host.strip("[]"), port))
    except (OSError, OverflowError) as error:
        code = getattr(error, "errno", None)
        if code == errno.EADDRINUSE:
            why = "is taken by another program; choose another port with --port, such as"
        elif code == errno.EACCES:
            why = "needs more rights than this account has; choose a port from 1024 up with --port, such as"
        else:
            why = "cannot be used; check --host, or choose another port with --port, such as"
        other = port + 1 if 1024 <= port < 65535 else 7860
        raise SystemExit(f"Port {port} on {host} {why} {other}.") from None


def family_of(host: str, port: int) -> socket.AddressFamily:
    """IPv4 or IPv6, as the name says."""
    return socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)[0][0]
