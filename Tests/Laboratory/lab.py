"""What the laboratory shares: programs and their costs, stores and servers, figures, tables and progress."""
import argparse
import contextlib
import json
import math
import os
import pathlib
import resource
import shutil
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORES = len(os.sched_getaffinity(0))
TICK = os.sysconf("SC_CLK_TCK")
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"
ONE_CORE = dict(os.environ, VIPS_CONCURRENCY="1")

sys.path.append(str(ROOT / "Tests/TestSupport"))
import postgres  # noqa: E402


class Unmeasured(RuntimeError):
    """Why something could not be measured."""


# A script's frame


def parser(name, description, **more):
    """A parser of the arguments of deploy/NAME."""
    return argparse.ArgumentParser(prog=f"deploy/{name}", description=description,
                                   formatter_class=argparse.RawDescriptionHelpFormatter, **more)


def add_bin(add):
    add("--bin", type=pathlib.Path, metavar="FOLDER", help="use the programs in this folder instead of building them")


def positive(text):
    if not 0 < (number := float(text)) < 100_000:
        raise ValueError
    return number


def report(path):
    """A report of figures that an earlier run wrote."""
    try:
        found = json.loads(pathlib.Path(path).read_text())
        return found | {"date": found["date"], "commit": found["commit"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise argparse.ArgumentTypeError(f"{path} is no report: {error}") from error


def built(options, script, *programs):
    """The folder of the programs: --bin, or the last line that a script of the shell prints, which builds them."""
    if not options.bin:
        progress("building (the first time takes some minutes)")
        done = subprocess.run(["bash", "-euc", script], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            sys.exit("the build failed")
        return pathlib.Path(done.stdout.strip().splitlines()[-1])
    for name in programs:
        if not (options.bin / name).exists():
            progress(f"--bin: there is no {name} in {options.bin}")
            sys.exit(2)
    return options.bin.resolve()


def found(*names):
    """The path of the first of these programs that is installed, or None."""
    return next((path for name in names if (path := shutil.which(name, path=PATH))), None)


def need(program, package):
    if not found(program):
        sys.exit(f"{program} is missing: apt-get install {package}")


def main(act):
    """Runs a script. Ctrl-C and SIGTERM end it in good order."""
    def interrupt(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    try:
        sys.exit(act())
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        sys.exit(130)


# Processes


def words(*command):
    return [str(word) for word in command]


def output(*command, **more):
    """What a command prints; raises if it fails, with what it said."""
    done = subprocess.run(words(*command), capture_output=True, text=True, **more)
    succeeded(done, done.stderr)
    return done.stdout


def succeeded(process, errors):
    """Raises if a process has failed, with its error, which a backtrace may follow."""
    if process.returncode:
        reason = next((line for line in errors.splitlines() if "rror" in line), errors.strip()[-400:])
        raise Unmeasured(f"{pathlib.Path(process.args[0]).name} ended with {process.returncode}: {reason}")


def end(process, seconds=60):
    """Stops a process in good order, or after so many seconds in any case; returns its exit code."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    return process.returncode


@contextlib.contextmanager
def running(*command, **more):
    process = subprocess.Popen(words(*command), **{"stdout": subprocess.DEVNULL, **more})
    try:
        yield process
    finally:
        end(process)


@contextlib.contextmanager
def server(*command, answers, **more):
    """A process that answers: `answers` is true, once it does not raise an error of a connection."""
    def is_ready():
        if process.poll() is not None:
            raise Unmeasured(f"{command[0]} has ended")
        with contextlib.suppress(OSError):
            return answers()

    with running(*command, stdin=subprocess.DEVNULL, **more) as process:
        wait_until(is_ready, f"starting {command[0]}")
        yield process


def together(command, count):
    """The numbers that so many processes print that begin at one time: each says when it is ready, and reads a line."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with contextlib.ExitStack() as stack:
        started = [stack.enter_context(running(*command, text=True, **pipes)) for _ in range(count)]
        for process in started:
            process.stdout.readline()
        with contextlib.suppress(BrokenPipeError):  # it has ended, and says why
            for process in started:
                process.stdin.write("\n")
                process.stdin.flush()
        answers = [(process, *process.communicate(timeout=300)) for process in started]
    for process, _, errors in answers:
        succeeded(process, errors)
    return [[float(word) for word in printed.split()] for _, printed, _ in answers]


def stat(pid):
    """What /proc says of a process behind its name: the state, the parent, and so on."""
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def processes():
    """Each process with its parent and the seconds of processor time of itself and of its children that have ended."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            fields = stat(name)
            found[int(name)] = (int(fields[1]), sum(map(int, fields[11:15])) / TICK)
    return found


def tree(root, among=None):
    """The ids of a process and all of its descendants."""
    among = among or processes()
    members, more = set(), {root} & among.keys()
    while more:
        members |= more
        more = {pid for pid, (parent, _) in among.items() if parent in members} - members
    return members


def processor_time(root):
    """The seconds of processor time of a process and its descendants, those included that were waited for."""
    among = processes()
    return sum(among[pid][1] for pid in tree(root, among))


def own_time(pid):
    """The seconds of processor time of a process alone."""
    return sum(map(int, stat(pid)[11:13])) / TICK


def children_time():
    """The seconds of processor time of all processes that were waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def children(pid):
    return tree(pid) - {pid}


def memory(pid, name="VmRSS"):
    """What a process has of memory, or with VmHWM had at most, in MiB; 0 once it has ended."""
    with contextlib.suppress(OSError, StopIteration):
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name + ":"))
    return 0


def largest_child(pid, name="VmRSS"):
    return max((memory(child, name) for child in children(pid)), default=0)


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


# Figures


def quantiles(times):
    """Of p99, 99 % of the times are not larger."""
    late = sorted(times)[math.ceil(len(times) * 0.99) - 1]
    return {"p50": round(statistics.median(times), 2), "p99": round(late, 2), "slowest": round(max(times), 2)}


def slope(points):
    """The slope of the straight line through the points with the least squares, 0 for fewer than two."""
    return statistics.linear_regression(*zip(*points)).slope if len({x for x, _ in points}) > 1 else 0


def timed(act, *arguments):
    """What a function returns, and the seconds that it took."""
    started = time.monotonic()
    value = act(*arguments)
    return value, time.monotonic() - started


def wait_until(condition, what, seconds=60, pause=0.02):
    """Waits until a condition holds and returns its value."""
    limit = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > limit:
            raise Unmeasured(f"{what} took more than {seconds} s")
        time.sleep(pause)
    return value


@contextlib.contextmanager
def meanwhile(act, pause):
    """Calls a function again and again, in a thread, while something else is done."""
    stop = threading.Event()

    def work():
        while not stop.wait(pause):
            act()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


# What is printed


def progress(text):
    print(text, file=sys.stderr, flush=True)


class Line:
    """A line that is redrawn on a terminal; elsewhere one line a minute."""

    def __init__(self):
        self.onto = sys.stderr.isatty()
        self.last, self.every = 0, 0.5 if self.onto else 60

    def __call__(self, text, always=False):
        if always or time.monotonic() - self.last >= self.every:
            self.last = time.monotonic()
            print(f"\r\033[K{text}" if self.onto else text, end="" if self.onto else "\n", file=sys.stderr, flush=True)

    def close(self):
        if self.onto:
            print(file=sys.stderr)


def show_rows(rows, width, failures=()):
    for name, text in rows:
        print(f"{name:{width}}{text}")
    for line in failures:
        print(f"FAILED: {line}")


def show_figures(found, indent=""):
    """What a program gets as JSON, with a line for each figure."""
    for name, value in found.items():
        if isinstance(value, dict):
            print(indent + name)
            show_figures(value, indent + "  ")
        else:
            print(f"{indent + name:28}{value}")


def number(value, digits=0):
    return "-" if value is None else f"{value:,.{digits}f}"


def table(head, rows):
    """A Markdown table with columns of equal width, so that it can be read as it is."""
    rows = [[str(cell) for cell in row] for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*rows)]
    rows.insert(1, ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])])
    lines = [[row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


# Stores and servers


def connect(store, timeout=30, **more):
    """A connection to a store, for `with`, by which no producer does a checkpoint."""
    database = sqlite3.connect(pathlib.Path(store) / "cameo.sqlite", isolation_level=None, timeout=timeout, **more)
    database.execute("PRAGMA wal_autocheckpoint=0")
    return contextlib.closing(database)


def one(database, question, *values):
    """The first column of the first row."""
    row = database.execute(question, values).fetchone()
    return row and row[0]


def faults(library):
    """Compiles the library that makes calls of a program fail."""
    output("cc", "-O1", "-shared", "-fPIC", "-o", library, ROOT / "Tests/TestSupport/faults.c")


@contextlib.contextmanager
def redis(folder):
    """A Redis that syncs every write before it answers: the path of its socket, which is short, and its id."""
    def answers():
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(address)
        return True

    with tempfile.TemporaryDirectory() as short:
        address = f"{short}/redis.sock"
        command = ["redis-server", "--port", "0", "--unixsocket", address, "--save", "", "--appendonly", "yes",
                   "--appendfsync", "always", "--dir", folder, "--daemonize", "no", "--loglevel", "warning"]
        with server(*command, answers=answers) as process:
            yield address, process.pid


class PostgreSQL(postgres.Server):
    """A server that is asked by psql."""

    def psql(self):
        return words(f"{self.programs}/psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", *self.place, "-U", "cameo",
                     "-d", "postgres")

    def ask(self, sql, schema="public"):
        """Runs statements; what psql prints: rows in lines, columns separated by |."""
        return output(*self.psql(), input=f"SET search_path TO {schema};\n{sql};\n").strip()

    def rows(self, sql, schema="public"):
        return [line.split("|") for line in self.ask(sql, schema).splitlines()]
