"""pyvips in a pool of processes, which lose whatever they were doing when they die."""
import multiprocessing
import sys

from conversation import serve
from rendering import render


def work(task):
    render(*task)


if __name__ == "__main__":
    with multiprocessing.Pool(int(sys.argv[1])) as pool:
        pool.map(abs, range(64))
        serve(lambda pictures, renditions, folder: pool.map(work, [(path, renditions, folder) for path in pictures], 1))
