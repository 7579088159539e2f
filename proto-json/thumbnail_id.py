#!/usr/bin/env python3
"""Computes the URIs of a request's thumbnails. README.md says how; this is that text as a program.

    thumbnail_id.py < request.json                one URI a rendition, in their order
    thumbnail_id.py --canonical < request.json    the texts that are digested
"""
import base64
import hashlib
import json
import pathlib
import re
import sys
import urllib.parse

# The defaults are version 1, frozen.
with open(pathlib.Path(__file__).with_name("thumbnail-request.schema.json"), encoding="utf-8") as file:
    SCHEMA = json.load(file)["$defs"]

# What a picture in plain base64 begins with, and at which byte. Frozen too.
BEGINNINGS = [
    (0, b"\xff\xd8\xff"), (0, b"\x89PNG\r\n\x1a\n"), (0, b"GIF87a"), (0, b"GIF89a"), (8, b"WEBP"), (0, b"II*\0"),
    (0, b"MM\0*"), (0, b"II+\0"), (0, b"MM\0+"), (4, b"ftyp"), (0, b"\0\0\0\x0cJXL \r\n\x87\n"), (0, b"%PDF-"),
    (0, b"<svg"), (0, b"<?xml"), (0, b"<!--"), (0, b"<!DOCTYPE"),
]


def unique(pairs):
    if len(dict(pairs)) != len(pairs):
        raise ValueError("duplicate key")
    return dict(pairs)


def number(value):
    """As ECMAScript prints a number that is not negative and below 1e16: exponents begin below 1e-6, not 1e-4."""
    if value == int(value):
        return str(int(value))  # 256.0 is 256
    digits, _, power = repr(value).partition("e")
    if not power:
        return digits
    if int(power) < -6:
        return f"{digits}e{int(power)}"
    return "0." + "0" * (-int(power) - 1) + digits.replace(".", "")


def canonical(value):
    """RFC 8785, as far as ids need it: keys are ASCII, numbers are not negative."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{canonical(key)}:{canonical(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number(value)
    return json.dumps(value, ensure_ascii=False)


def digits_of(text):
    """Base64 without percent-encoding and white space, in the standard alphabet; with whatever padding it has."""
    return urllib.parse.unquote_to_bytes(text).translate(bytes.maketrans(b"-_", b"+/"), delete=b" \t\r\n")


def decoded(digits):
    digits = digits[:-2] + digits[-2:].rstrip(b"=")
    return base64.b64decode(digits + b"=" * (-len(digits) % 4), validate=True)


def is_plain_base64(source):
    head = digits_of(source)[:32]
    if not re.fullmatch(b"[A-Za-z0-9+/]{32}", head):
        return False
    start = decoded(head)
    return any(start[at:].startswith(magic) for at, magic in BEGINNINGS)


def source_text(source):
    if source[:5].lower() == "data:":
        header, payload = source[5:].split(",", 1)
        if "base64" in [parameter.strip(" ").lower() for parameter in header.split(";")[1:]]:
            data = decoded(digits_of(payload))
        else:
            data = urllib.parse.unquote_to_bytes(payload)
    elif is_plain_base64(source):
        data = decoded(digits_of(source))
    else:
        return source
    return "cameo://blob/sha256-" + hashlib.sha256(data).hexdigest()


def color(text):
    digits = text[1:].lower()
    digits = "".join(digit * 2 for digit in digits) if len(digits) < 6 else digits
    return "#" + (digits + "ff")[:8]


def normalised(value, kind):
    """Colours in one spelling, lists of words in the schema's order, objects without their defaults."""
    if kind.get("$ref") == "#/$defs/color":
        return color(value)
    if "enum" in kind.get("items", {}):
        return [word for word in kind["items"]["enum"] if word in value]
    if kind.get("$ref", "").startswith("#/$defs/") and isinstance(value, dict):
        return without_defaults(value, SCHEMA[kind["$ref"].split("/")[-1]]["properties"])
    return value


def without_defaults(fields, kinds):
    fields = {name: normalised(value, kinds[name]) for name, value in fields.items()}
    return {name: value for name, value in fields.items() if "default" not in kinds[name] or kinds[name]["default"] != value}


def definition(rendition):
    fields = without_defaults(rendition, SCHEMA["rendition"]["properties"])
    fields.pop("name", None)
    if "overlay" in fields:
        fields["overlay"] = {**fields["overlay"], "source": source_text(fields["overlay"]["source"])}
    return fields


def canonical_texts(request):
    identity = {"v": 1, "source": source_text(request["source"])}
    if request.get("headers"):
        headers = canonical({name.lower(): value for name, value in request["headers"].items()})
        identity["scope"] = hashlib.sha256(headers.encode()).hexdigest()[:32]
    return [canonical({**identity, "rendition": definition(rendition)}) for rendition in request["renditions"]]


if __name__ == "__main__":
    for text in canonical_texts(json.load(sys.stdin.buffer, object_pairs_hook=unique)):
        digest = hashlib.sha256(text.encode()).hexdigest()
        print(text if sys.argv[1:] == ["--canonical"] else f"cameo://thumb/{digest[:32]}")
