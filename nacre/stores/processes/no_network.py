"""Take the network away from a process that runs queries of others: -> the process can open no Internet socket.

The guards refuse SERVICE in the text of a query. This is the second layer: an engine with an HTTP client of its own
(Oxigraph) cannot use it, whatever a guard let through. On Linux a seccomp filter denies `socket` for AF_INET and
AF_INET6; elsewhere nothing is done and the guards stand alone.
"""

import ctypes
import errno
import logging
import platform
import socket
import struct
import sys

log = logging.getLogger(__name__)

# per machine: audit architecture, number of `socket`, number of `seccomp` (linux/audit.h, asm/unistd.h)
_MACHINES = {"x86_64": (0xC000003E, 41, 317), "aarch64": (0xC00000B7, 198, 277)}
_PR_SET_NO_NEW_PRIVS, _SECCOMP_SET_MODE_FILTER, _ALL_THREADS = 38, 1, 1
_ALLOW, _DENY = 0x7FFF0000, 0x00050000 | errno.EACCES
# offsets in struct seccomp_data
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
# load a word, jump if equal, return (linux/bpf_common.h)
_LOAD, _JUMP_EQUAL, _RETURN = 0x20, 0x15, 0x06


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def deny_network() -> bool:
    """Deny Internet sockets to this process and all its threads, for good; returns whether that was possible."""
    machine = _MACHINES.get(platform.machine())
    if sys.platform != "linux" or machine is None:
        return False
    architecture, socket_number, seccomp_number = machine
    code = b"".join(
        struct.pack("HBBI", *instruction)
        for instruction in (
            (_LOAD, 0, 0, _ARCHITECTURE),
            (_JUMP_EQUAL, 0, 5, architecture),
            (_LOAD, 0, 0, _NUMBER),
            (_JUMP_EQUAL, 0, 3, socket_number),
            (_LOAD, 0, 0, _FIRST_ARGUMENT),
            (_JUMP_EQUAL, 2, 0, socket.AF_INET),
            (_JUMP_EQUAL, 1, 0, socket.AF_INET6),
            (_RETURN, 0, 0, _ALLOW),
            (_RETURN, 0, 0, _DENY),
        )
    )
    libc = ctypes.CDLL(None, use_errno=True)
    program = _Program(len(code) // 8, code)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.syscall(
        seccomp_number, _SECCOMP_SET_MODE_FILTER, _ALL_THREADS, ctypes.byref(program)
    ):
        log.warning("The network could not be taken from a query process: %s", errno.errorcode.get(ctypes.get_errno()))
        return False
    return True
