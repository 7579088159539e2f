"""What the laboratory shares: programs and their costs, stores and servers, figures, tables and progress."""
import argparse
import contextlib
import glob
import math
import os
import pathlib
import pwd
import resource
import shutil
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORES = len(os.sched_getaffinity(0))
TICK, PAGE = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
PATH = os.environ["PATH"] + ":/usr/sbin:/sbin"


class Unmeasured(RuntimeError):
    """Why something could not be measured."""


# ---------------------------------------------------------------------------------------------------- A script's frame


def parser(name, description, has_bin=True, **more):
    """A parser of the arguments of deploy/NAME."""
    made = argparse.ArgumentParser(prog=f"deploy/{name}", description=description,
                                   formatter_class=argparse.RawDescriptionHelpFormatter, **more)
    if has_bin:
        add_bin(made.add_argument)
    return made


def add_bin(add):
    add("--bin", type=pathlib.Path, metavar="FOLDER",
        help="use the programs in this folder instead of building them")


def check_bin(options, error, *programs):
    for name in programs:
        if options.bin and not (options.bin / name).exists():
            error(f"--bin: there is no {name} in {options.bin}")


def positive(text):
    if not 0 < (number := float(text)) < 100_000:
        raise ValueError
    return number


def built(options, script):
    """The folder of the programs: --bin, or the last line that a script of the shell prints, which builds them."""
    if options.bin:
        return options.bin.resolve()
    progress("building (the first time takes some minutes)")
    done = subprocess.run(["bash", "-euc", script], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit("the build failed")
    return pathlib.Path(done.stdout.strip().splitlines()[-1])


def need(program, package):
    if not shutil.which(program, path=PATH):
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


# ----------------------------------------------------------------------------------------------------------- Processes


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


def together(command, count, waits=False, **more):
    """What so many processes print that begin at one time; with `waits` each says a line when it is ready, and reads one."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with contextlib.ExitStack() as stack:
        started = [stack.enter_context(running(*command, text=True, **pipes, **more)) for _ in range(count)]
        for process in started if waits else ():
            process.stdout.readline()
        with contextlib.suppress(BrokenPipeError):  # it has ended, and says why
            for process in started if waits else ():
                process.stdin.write("\n")
                process.stdin.flush()
        answers = [(process, *process.communicate(timeout=300)) for process in started]
    for process, _, errors in answers:
        succeeded(process, errors)
    return [printed for _, printed, _ in answers]


def processes():
    """Each process with its parent and the seconds of processor time of itself and of its children that have ended."""
    found = {}
    for entry in os.scandir("/proc"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = pathlib.Path(entry.path, "stat").read_text().rpartition(")")[2].split()
            found[int(entry.name)] = (int(fields[1]), sum(map(int, fields[11:15])) / TICK)
    return found


def tree(root, among=None):
    """The ids of a process and all of its descendants."""
    among = processes() if among is None else among
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
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / TICK


def children_time():
    """The seconds of processor time of all processes that were waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def children(pid):
    found = []
    for task in glob.glob(f"/proc/{pid}/task/*/children"):
        with contextlib.suppress(OSError):  # the thread ended while it was looked at
            found += map(int, pathlib.Path(task).read_text().split())
    return found


def status(pid, name):
    """A line of a process's status, such as VmRSS or VmHWM in MiB; 0 once it has ended."""
    with contextlib.suppress(OSError, StopIteration):
        lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name + ":"))
    return 0


def resident(pid):
    return status(pid, "VmRSS")


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


# ------------------------------------------------------------------------------------------------------------- Figures


def percentile(values, share):
    """The smallest value that at least this share of the values does not exceed."""
    return sorted(values)[max(0, math.ceil(len(values) * share) - 1)]


def quantiles(times):
    return {"p50": round(statistics.median(times), 2), "p99": round(percentile(times, 0.99), 2), "slowest": round(max(times), 2)}


def spread(values):
    """How far the values lie apart, as a share of their median."""
    middle = statistics.median(values)
    return (max(values) - min(values)) / middle if middle else 0


def slope(points):
    """The slope of the straight line through the points with the least squares, 0 for fewer than two."""
    if len({x for x, _ in points}) < 2:
        return 0
    middle_x, middle_y = (statistics.fmean(values) for values in zip(*points))
    return sum((x - middle_x) * (y - middle_y) for x, y in points) / sum((x - middle_x) ** 2 for x, _ in points)


def rounded(value):
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [rounded(inner) for inner in value]
    return round(value, 2) if isinstance(value, float) else value


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


# ---------------------------------------------------------------------------------------------------- What is printed


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


def number(value, digits=0):
    return "-" if value is None else f"{value:,.{digits}f}"


def table(head, rows):
    """A Markdown table with columns of equal width, so that it can be read as it is."""
    rows = [[str(cell) for cell in row] for row in (head, *rows)]
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["| " + " | ".join(f"{cell:{'>' if column else '<'}{widths[column]}}" for column, cell in enumerate(row)) + " |"
             for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 1) + ("-:"[column > 0]) for column, width in enumerate(widths)) + "|")
    return "\n".join(lines) + "\n"


# -------------------------------------------------------------------------------------------------- Stores and servers


def connect(store, **more):
    """A connection to a store, by which no producer does a checkpoint."""
    database = sqlite3.connect(pathlib.Path(store) / "cameo.sqlite", isolation_level=None, timeout=more.pop("timeout", 30), **more)
    database.execute("PRAGMA wal_autocheckpoint=0")
    return database


def faults(library):
    """Compiles the library that makes calls of a program fail."""
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, ROOT / "Tests/TestSupport/faults.c"], check=True)


class PostgreSQL:
    """A server on a Unix socket in `folder`, and on a port if one is given. It ends with this program even if that is
    killed. All else than `settings` is as initdb leaves it."""

    def __init__(self, folder, settings, port=None):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
        if not found:
            raise Unmeasured("there is no PostgreSQL server in /usr/lib/postgresql: apt-get install postgresql")
        self.programs, self.folder, self.settings = pathlib.Path(found[-1]), folder, settings
        self.data, self.port, self.process, self.owner = folder / "data", port or 5432, None, {}
        self.host = "127.0.0.1" if port else folder
        folder.mkdir(exist_ok=True)
        if os.geteuid() == 0:  # as which the server refuses to run
            account = pwd.getpwnam("postgres")
            os.chown(folder, account.pw_uid, account.pw_gid)
            self.owner = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}

    def command(self, name, *arguments):
        return output(self.programs / name, *arguments, stdin=subprocess.DEVNULL, cwd=self.folder, **self.owner)

    def initialize(self):
        self.command("initdb", "-D", self.data, "-U", "cameo", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")

    def start(self):
        options = [word for name, value in self.settings.items() for word in ("-c", f"{name}={value}")]
        command = ["setpriv", "--pdeathsig", "QUIT", self.programs / "postgres", "-D", self.data, "-p", self.port, "-k",
                   self.folder, *options]
        with open(self.folder / "log", "a") as log:
            self.process = subprocess.Popen(words(*command), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log,
                                            cwd=self.folder, start_new_session=True, **self.owner)
        self.await_answer()

    def await_answer(self):
        def answers():
            if self.process.poll() is not None:
                raise Unmeasured(f"the server does not start: {(self.folder / 'log').read_text()[-500:]}")
            return not subprocess.run(words(self.programs / "pg_isready", "-q", *self.place)).returncode

        wait_until(answers, "starting the server")

    def stop(self, number=signal.SIGQUIT):
        if self.process and self.process.poll() is None:
            self.process.send_signal(number)
            self.process.wait()

    @property
    def place(self):
        return "-h", self.host, "-p", self.port

    def psql(self):
        return words(self.programs / "psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", *self.place, "-U", "cameo", "-d", "postgres")

    def ask(self, sql, schema="public"):
        """Runs statements; what psql prints: rows in lines, columns separated by |."""
        return output(*self.psql(), input=f"SET search_path TO {schema};\n{sql};\n").strip()

    def rows(self, sql, schema="public"):
        return [line.split("|") for line in self.ask(sql, schema).splitlines()]
