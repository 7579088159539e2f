"""What every measurement needs: processor time of processes, medians, and a record of what could not be measured."""
import contextlib
import dataclasses
import math
import os
import pathlib
import statistics
import sys
import time

TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


def processes():
    """Each process with its parent and the seconds of processor time of itself and of its children that have ended."""
    found = {}
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError, IndexError):
            fields = pathlib.Path(entry.path, "stat").read_text().rpartition(")")[2].split()
            found[int(entry.name)] = (int(fields[1]), sum(map(int, fields[11:15])) / TICK)
    return found


def tree(root, among=None):
    """The ids of a process and all of its descendants."""
    among = processes() if among is None else among
    members, grown = {root} & among.keys(), True
    while grown:
        more = {pid for pid, (parent, _) in among.items() if parent in members} - members
        members |= more
        grown = bool(more)
    return members


def processor_time(root):
    """The seconds of processor time of a process and its descendants, those included that were waited for."""
    among = processes()
    return sum(among[pid][1] for pid in tree(root, among))


def resident(pid):
    """The resident memory of a process in MiB, 0 if it has ended."""
    with contextlib.suppress(OSError, IndexError):
        return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE / 2**20
    return 0


def percentile(values, share):
    """The smallest value that at least this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * share) - 1)]


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


def wait_until(condition, what, seconds=60, pause=0.02):
    """Waits until a condition holds and returns its value; raises `Unmeasured` after so many seconds."""
    limit = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > limit:
            raise Unmeasured(f"{what} took more than {seconds} s")
        time.sleep(pause)
    return value


class Unmeasured(Exception):
    """Why something could not be measured."""


@dataclasses.dataclass
class Notes:
    """What the report has to say beside its figures. `failed` makes the exit code 1; `left_out` cannot be done at all
    (a peer that cannot read a format), and does not."""

    failed: list = dataclasses.field(default_factory=list)
    left_out: list = dataclasses.field(default_factory=list)

    def fail(self, what, reason):
        entry = {"what": what, "reason": " ".join(str(reason).split())[:400]}
        if entry not in self.failed:
            self.failed.append(entry)
            print(f"FAILED: {what}: {entry['reason']}", file=sys.stderr, flush=True)

    def leave_out(self, what, reason):
        entry = {"what": what, "reason": reason}
        if entry not in self.left_out:
            self.left_out.append(entry)

    @contextlib.contextmanager
    def failures_of(self, what):
        """Records an error of what runs inside instead of ending the program."""
        try:
            yield
        except (Exception, SystemExit) as error:  # an older measurement exits
            output = getattr(error, "stderr", None) or ""
            output = output if isinstance(output, str) else output.decode(errors="replace")
            last = output.strip().splitlines()[-1:] if output else []
            self.fail(what, "; ".join([f"{type(error).__name__}: {error}", *last]))


def progress(text):
    print(text, file=sys.stderr, flush=True)
