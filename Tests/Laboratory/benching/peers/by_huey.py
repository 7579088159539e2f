"""huey on SQLite with fsync, its consumer with a process for each core, and pyvips. Files are written without fsync."""
import os
import pathlib
import subprocess
import sys

from huey import SqliteHuey

huey = SqliteHuey(filename=os.environ["BENCH_FOLDER"] + "/huey.db", fsync=True, timeout=30)


@huey.task()
def make(path, renditions, folder):
    from rendering import render_and_tell

    render_and_tell(path, renditions, folder)


def main():
    import by_huey  # under this name, which is the consumer's, and not as __main__
    from conversation import serve, wait_for

    def enqueue(pictures, renditions, folder):
        for path in pictures:
            by_huey.make(path, renditions, folder)
        wait_for(len(pictures), folder, [consumer])

    # Looks for tasks every 20 ms while idle; its own default lets an idle consumer sleep up to 10 s.
    command = [pathlib.Path(sys.executable).parent / "huey_consumer", "by_huey.huey", "-k", "process", "-w", sys.argv[1],
               "-d", "0.02", "-m", "0.02", "-b", "1", "-n", "-q"]
    consumer = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sys.stderr)
    try:
        serve(enqueue)
    finally:
        consumer.terminate()
        consumer.wait()


if __name__ == "__main__":
    main()
