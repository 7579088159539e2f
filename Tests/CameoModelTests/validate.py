#!/usr/bin/python3
"""Validates messages against proto-json/*.schema.json with Debian's python3-jsonschema (JSON Schema 2020-12).

    validate.py                            checks that every schema is itself valid
    validate.py SCHEMA_NAME < lines        one message a line, such as `cameo-status job 7 --json` prints;
                                           SCHEMA_NAME is thumbnail-request, job, …, or a part of one, as
                                           status-report#/$defs/queue; at least one line is required
    validate.py --files SCHEMA_NAME FILE…  one message a file; prints "ok FILE" or "refused FILE: why" for each

Exit status: 0 all valid, 1 a message was refused, 2 a schema or the usage is wrong.
"""
import calendar
import json
import pathlib
import re
import sys

from jsonschema import Draft202012Validator, FormatChecker, ValidationError, validators

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "proto-json"

formats = FormatChecker(formats=())


@formats.checks("date-time")
def is_date_time(text):
    """The schemas' patterns fix the form; this checks the calendar: no 30 February."""
    day = re.match(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T", text) if isinstance(text, str) else None
    if day is None:
        return not isinstance(text, str)
    year, month, number = map(int, day.groups())
    if not 1 <= month <= 12:
        return False
    leap_day = 1 if month == 2 and calendar.isleap(year) else 0
    return 1 <= number <= calendar.mdays[month] + leap_day


def pattern(_validator, pattern, instance, _schema):
    """JSON Schema means ECMAScript's `$`, the end of the text. Python's also stands before a last newline."""
    if isinstance(instance, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), instance):
        yield ValidationError(f"{instance[:200]!r} does not match {pattern!r}")


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def parse(text):
    return json.loads(text, parse_constant=refuse_constant)


# Registered, so that a schema which names its draft in `$schema` is also read with this pattern.
Validator = validators.validates("cameo")(validators.extend(Draft202012Validator, {"pattern": pattern}))


def load_schemas():
    schemas = {path.name: parse(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.schema.json"))}
    for name, schema in schemas.items():
        Draft202012Validator.check_schema(schema)
        if not schema["$id"].endswith("/" + name):
            raise ValueError(f"{name}: its $id names another file: {schema['$id']}")
        check_parts(name, schema)
    return schemas


def check_parts(place, schema):
    """Every property is described, every object that lists its fields is closed, and no keyword is misspelt."""
    known = set(Draft202012Validator.VALIDATORS) | {
        "$schema", "$id", "$defs", "title", "description", "default", "then", "else",
    }
    if not isinstance(schema, dict):
        return
    for keyword, value in schema.items():
        if keyword not in known:
            raise ValueError(f"{place}: unknown keyword {keyword}")
        if keyword == "$ref" and not (FOLDER / (value.partition("#")[0] or place.partition("/")[0])).is_file():
            raise ValueError(f"{place}: {value} is in none of the schemas in {FOLDER}")
        if keyword in ("properties", "$defs"):
            for name, part in value.items():
                if keyword == "$defs" and "description" not in part:
                    raise ValueError(f"{place}/{keyword}/{name} has no description")
                check_parts(f"{place}/{keyword}/{name}", part)
        elif keyword in ("items", "additionalProperties", "propertyNames", "not", "if", "then", "else"):
            check_parts(f"{place}/{keyword}", value)
        elif keyword in ("allOf", "anyOf", "oneOf"):
            for index, part in enumerate(value):
                check_parts(f"{place}/{keyword}/{index}", part)
    if schema.get("type") == "object" and "properties" in schema:
        if schema.get("additionalProperties") is not False:
            raise ValueError(f"{place} is open: additionalProperties is not false")
        for name, part in schema["properties"].items():
            if "description" not in part:
                raise ValueError(f"{place}/properties/{name} has no description")


def validator(schemas, name):
    """All schemas are parts of one, so that a reference needs no resolver: jsonschema 4.18 has another than 4.10."""
    name, mark, part = name.partition("#")
    whole = {"$defs": schemas, "$ref": schemas[f"{name}.schema.json"]["$id"] + mark + part}
    return Validator(whole, format_checker=formats)


def complaint(checker, text):
    """Why the text is refused, or None."""
    try:
        message = parse(text)
    except ValueError as error:
        return f"not JSON: {error}"
    errors = sorted(checker.iter_errors(message), key=lambda error: [str(part) for part in error.absolute_path])
    return "; ".join(f"{error.json_path}: {error.message[:300]}" for error in errors) or None


def main(arguments):
    try:
        schemas = load_schemas()
        if not arguments:
            print(f"{len(schemas)} schemas are valid")
            return 0
        if arguments[0] == "--files":
            checker, texts = validator(schemas, arguments[1]), [(f, open(f, "rb").read()) for f in arguments[2:]]
        else:
            lines = [line for line in sys.stdin.buffer.read().split(b"\n") if line.strip()]
            checker, texts = validator(schemas, arguments[0]), [(f"line {n}", t) for n, t in enumerate(lines, 1)]
    except Exception as error:  # also of the schema library: all of them are exit status 2
        print(f"validate.py: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    if not texts:
        print("validate.py: no message to validate", file=sys.stderr)
        return 1
    verdicts = [(place, complaint(checker, text)) for place, text in texts]
    for place, why in verdicts:
        if why or arguments[0] == "--files":
            print(f"refused {place}: {why}" if why else f"ok {place}")
    return 1 if any(why for _, why in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
