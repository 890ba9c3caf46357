"""The rights of a process that runs a submission: the kernel enforces them, and no code inside can widen them.

Three features of Linux that need no privilege protect these rights: Landlock (files, TCP, signals), seccomp (system
calls), and namespaces of its own (network, processes). `command` starts a process in new namespaces; the process then
calls `enter` before it runs anything of the submission. A feature that this machine lacks is left out. `enter` returns
the protections that hold.
"""

from __future__ import annotations

import ctypes
import functools
import os
import shutil
import struct
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

FILES, SIGNALS, NETWORK, PROCESSES, CALLS = "files", "signals", "network", "processes", "system calls"
MEANING = {
    FILES: "reads and writes only the files given to it",
    SIGNALS: "signals no other process",
    NETWORK: "connects to nothing",
    PROCESSES: "leaves no process behind",
    CALLS: "uses no sockets, keys, namespaces or other processes' memory; changes no file modes",
}
PROTECTIONS = tuple(MEANING)
FILE_SIZE = 256 << 20

_SYSTEM_READ = (
    *("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt", "/etc/ld.so.cache", "/etc/ld.so.conf"),
    *("/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf"),
    *("/dev/random", "/dev/urandom", "/dev/zero", "/sys/devices/system", "/sys/kernel/mm/transparent_hugepage"),
    *("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys/vm", "/proc/filesystems"),
)
# The first process of a namespace ignores signals, even its own `abort`, so a shell that only waits comes first.
_FIRST = ("sh", "-c", '"$0" "$@"; exit $?')
_GPU_READ, _GPU_WRITE = ("/proc", "/sys"), ("/dev",)

# System calls that no solution needs. Landlock does not cover sockets of files, nor modes and owners of files.
_CALLS = (
    *("socket", "io_uring_setup", "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp"),
    *("chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchown", "fchownat"),
    *("setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr", "utimensat", "utime"),
    *("mount", "umount2", "pivot_root", "chroot", "fsopen", "open_tree", "move_mount", "unshare", "setns"),
    *(
        "memfd_create",
        "memfd_secret",
        "shmget",
        "msgget",
        "semget",
        "mq_open",
    ),  # they allocate memory that no limit counts
    *("bpf", "perf_event_open", "keyctl", "add_key", "request_key", "userfaultfd", "open_by_handle_at"),
    *("init_module", "finit_module", "kexec_load", "reboot", "swapon", "settimeofday", "clock_settime", "quotactl"),
)
_PROCESS_CALLS = ("fork", "vfork", "execve", "execveat")  # and `clone` without a thread
_SIGNAL_CALLS = ("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")  # their first argument is the target


@dataclass(frozen=True)
class Bounds:
    """The files that one process may reach. Paths that do not exist are left out."""

    read: Sequence[str] = ()  # files, and folders with all of their contents
    listed: Sequence[str] = ()  # folders that may be listed, but not read
    write: Sequence[str] = ()  # folders to read and write in
    processes: bool = False  # whether the process may start others
    gpu: bool = False


@dataclass
class _Rules:
    """Landlock's rules for the version that the kernel supports."""

    version: int
    paths: list[tuple[str, int]] = field(default_factory=list)

    EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
    LINK, TRUNCATE, IOCTL = 1 << 13, 1 << 14, 1 << 15

    @property
    def handled(self) -> int:
        since = {self.LINK: 2, self.TRUNCATE: 3, self.IOCTL: 5}
        return (1 << 13) - 1 | sum(bit for bit, version in since.items() if self.speaks(version))

    def speaks(self, version: int) -> bool:
        return self.version >= version


def command(arguments: Sequence[str]) -> list[str]:
    """The command line that starts a process in namespaces of its own, if this machine lets us."""
    return [*_namespaces(), *(_FIRST if _namespaces() else ()), *arguments]


def exit_status(code: int | None) -> int | None:
    """The exit status of a process that `command` started, in `subprocess`'s convention: -11 after signal 11."""
    return 128 - code if code and code > 128 and _namespaces() else code


def enter(bounds: Bounds) -> list[str]:
    """Confine this process, which still has one thread, and its child processes. Returns the protections that hold."""
    if sys.platform != "linux":
        return []
    _limit(bounds)
    libc().prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS: a setuid file grants no rights
    _drop_capabilities()
    calls = _restrict_calls(bounds)  # first, because its library's file may be closed afterwards
    landlock = _restrict_files(bounds)
    apart = bool(os.environ.pop("KATA_NAMESPACES", ""))
    held = {
        FILES: landlock >= 1,
        SIGNALS: landlock >= 6 or apart or calls and not bounds.processes,
        NETWORK: apart or calls,
        PROCESSES: apart or calls and not bounds.processes,
        CALLS: calls,
    }
    return [name for name in PROTECTIONS if held[name]]


@functools.cache
def libc() -> ctypes.CDLL:
    """The C library of this process."""
    return ctypes.CDLL(None)


@functools.cache
def probe() -> tuple[str, ...]:
    """The protections that hold on this machine, tried in a process."""
    course = str(Path(__file__).parents[2])
    script = f"import sys; sys.path.insert(0, {course!r}); from grader.child import boundary as b; "
    script += "print('\\n'.join(b.enter(b.Bounds())))"
    arguments = command([sys.executable, "-I", "-c", script])
    done = subprocess.run(arguments, capture_output=True, text=True, env=environment(), timeout=60)
    return tuple(done.stdout.splitlines())


def environment(home: str | Path = os.devnull) -> dict[str, str]:
    """A clean environment: the system's variables, and none of the user's."""
    names = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "SYSTEMROOT")
    kept = {name: os.environ[name] for name in names if name in os.environ}
    here = dict.fromkeys(("HOME", "TMPDIR", "TEMP", "TMP", "XDG_CACHE_HOME"), str(home))
    return kept | here | ({"KATA_NAMESPACES": "1"} if _namespaces() else {})


def libraries(hidden: Iterable[str] = ()) -> tuple[list[str], list[str]]:
    """The system's and Python's files to read, and folders only to list, so that `hidden` packages stay unreadable."""
    folders = [*_SYSTEM_READ, *sysconfig.get_paths().values(), sys.prefix, sys.base_prefix, *_installed()]
    folders = sorted({os.path.realpath(folder) for folder in folders})
    closed = [os.path.join(folder, name) for folder in _installed() for name in hidden]
    closed = [path for path in closed if os.path.exists(path)]
    return [path for folder in folders for path in _all_but(folder, closed)], folders if closed else []


def _installed() -> list[str]:
    """The folders in which packages are installed."""
    paths = [path for path in sys.path if path.endswith("-packages")]
    return sorted({os.path.realpath(path) for path in (*paths, sysconfig.get_paths()["purelib"])})


def _all_but(folder: str, hidden: Sequence[str]) -> list[str]:
    """`folder`, or its contents without hidden packages."""
    if folder in hidden:
        return []
    if not any(path.startswith(folder + os.sep) for path in hidden):
        return [folder]
    inside = [os.path.realpath(os.path.join(folder, name)) for name in sorted(os.listdir(folder))]
    return [path for entry in inside for path in _all_but(entry, hidden)]


@functools.cache
def _namespaces() -> tuple[str, ...]:
    """The beginning of a command line that creates namespaces for network, processes and messages; [] if it fails."""
    tool = shutil.which("unshare") if sys.platform == "linux" else None
    if not tool:
        return ()
    options = ("--map-root-user", "--net", "--ipc", "--pid", "--fork", "--kill-child=KILL", "--mount-proc")
    for chosen in (options, options[:-1]):
        done = subprocess.run([tool, *chosen, "true"], capture_output=True)
        if done.returncode == 0:
            return tool, *chosen
    return ()


def _limit(bounds: Bounds) -> None:
    import resource

    limits = {resource.RLIMIT_CORE: 0, resource.RLIMIT_FSIZE: FILE_SIZE, resource.RLIMIT_NOFILE: 1024}
    if "KATA_NAMESPACES" in os.environ:  # there, the limit counts only this namespace's processes
        limits[resource.RLIMIT_NPROC] = 512
    for kind, value in limits.items():
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, hard if bounds.processes else value))


def _drop_capabilities() -> None:
    """Root without its capabilities is an ordinary user."""
    header = struct.pack("Ii", 0x20080522, 0)
    libc().capset(ctypes.c_char_p(header), ctypes.c_char_p(bytes(24)))


def _restrict_files(bounds: Bounds) -> int:
    """Enforce Landlock's rules. Returns Landlock's version, or 0 without Landlock."""
    version = libc().syscall(444, None, 0, 1)
    if version < 1:
        return 0
    rules = _Rules(version)
    listing = rules.READ_DIR
    reading = listing | rules.READ_FILE | (rules.EXECUTE if bounds.processes else 0)
    own = (f"/proc/{os.getpid()}", *(_GPU_READ if bounds.gpu else ()))
    rules.paths += [(path, reading) for path in (*own, *bounds.read)]
    rules.paths += [(path, listing) for path in bounds.listed]
    rules.paths += [(path, rules.handled) for path in (*bounds.write, "/dev/null", *(_GPU_WRITE if bounds.gpu else ()))]
    network = 3 if rules.speaks(4) else 0
    scopes = 3 if rules.speaks(6) else 0
    attributes = struct.pack("QQQ", rules.handled, network, scopes)[: 24 if scopes else 16 if network else 8]
    ruleset = libc().syscall(444, ctypes.c_char_p(attributes), len(attributes), 0)
    if ruleset < 0:
        return 0
    for path, access in rules.paths:
        _allow(ruleset, path, access & rules.handled)
    return version if libc().syscall(446, ruleset, 0) == 0 else 0


def _allow(ruleset: int, path: str, access: int) -> None:
    try:
        beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not os.path.isdir(path):
        access &= ~(_Rules.READ_DIR | ((1 << 14) - (1 << 4)))  # rights that only a folder can grant
    rule = struct.pack("=Qi", access, beneath)
    libc().syscall(445, ruleset, 1, ctypes.c_char_p(rule), 0)
    os.close(beneath)


class _Comparison(ctypes.Structure):
    """An argument of a system call, as libseccomp compares it."""

    _fields_ = [("argument", ctypes.c_uint), ("how", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


def _restrict_calls(bounds: Bounds) -> bool:
    """Enforce seccomp's rules with libseccomp, which knows the numbers of system calls on every machine."""
    allow, refuse, absent = 0x7FFF0000, 0x00050001, 0x00050026  # EPERM; ENOSYS, after which libc tries another call
    different, masked = 1, 7
    clone_thread = 0x10000
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        return False
    library.seccomp_init.restype = ctypes.c_void_p
    rules = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(allow)))

    def add(call: str, action: int = refuse, *when: _Comparison) -> None:
        if (number := library.seccomp_syscall_resolve_name(call.encode())) >= 0:
            array = (_Comparison * len(when))(*when)
            library.seccomp_rule_add_array(rules, ctypes.c_uint32(action), number, len(when), array)

    for call in _CALLS:
        add(call)
    add("prlimit64", refuse, _Comparison(0, different, 0, 0))  # refused if its argument names another process
    if not bounds.processes:
        for call in _PROCESS_CALLS:
            add(call)
        add("clone", refuse, _Comparison(0, masked, clone_thread, 0))
        add("clone3", absent)
        for call in _SIGNAL_CALLS:
            add(call, refuse, _Comparison(0, different, os.getpid(), 0))
    done = library.seccomp_load(rules)
    library.seccomp_release(rules)
    return done == 0
