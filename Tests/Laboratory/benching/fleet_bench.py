"""What the parts of the fleet's benchmark share: a store on the server, and programs that begin at one time."""
import contextlib
import subprocess

from benching.measuring import Unmeasured, progress


class Bench:
    def __init__(self, bin, server, options):
        self.program, self.server, self.quick = bin / "cameo-queue-bench", server, options.quick
        self.rounds = options.rounds or (1 if options.quick else 3)
        self.seconds = 1 if options.quick else 2
        self.minutes = options.minutes or (0.5 if options.quick else 3)

    def show(self, what, figure):
        progress(f"    {what}: {figure}")

    def command(self, schema, *words):
        return [str(word) for word in (self.program, self.server.store(schema), *words)]

    def run(self, schema, *words, **more):
        """The numbers that a measurement of cameo-queue-bench prints."""
        done = subprocess.run(self.command(schema, *words), capture_output=True, text=True, **more)
        if done.returncode:
            raise Unmeasured(f"cameo-queue-bench {words[0]}: {done.stderr.strip()[-300:]}")
        return [float(word) for word in done.stdout.split() if word != "ready"]

    def store(self, schema):
        """A new store, with one job."""
        self.run(schema, "enqueue", 1)
        return schema

    def together(self, command, count):
        """Jobs a second by so many processes that begin at one time."""
        with contextlib.ExitStack() as stack:
            running = []
            for _ in range(count):
                process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                           stderr=subprocess.PIPE, text=True)
                stack.callback(lambda process=process: (process.kill(), process.wait()))
                running.append(process)
            for process in running:
                if not process.stdout.readline():
                    raise Unmeasured(f"{command[0]}: {process.stderr.read().strip()[-300:]}")
            for process in running:
                process.stdin.write("\n")
                process.stdin.flush()
            answers = [(process, *process.communicate(timeout=120)) for process in running]
        for process, _, errors in answers:
            if process.returncode:
                raise Unmeasured(f"{command[0]} ended with {process.returncode}: {errors.strip()[-300:]}")
        figures = [tuple(map(float, output.split())) for _, output, _ in answers]
        if min(took for _, took in figures) < self.seconds * 900:
            raise Unmeasured("the jobs were done before the time was over")
        return sum(jobs for jobs, _ in figures) / max(took for _, took in figures) * 1000
