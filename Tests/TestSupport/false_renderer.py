#!/usr/bin/python3
"""Runs the program.py that lies beside the link by which this is called (FalseRenderer.swift)."""
import pathlib
import sys

program = pathlib.Path(sys.argv[0]).with_name("program.py")
exec(compile(program.read_text(), program, "exec"))
