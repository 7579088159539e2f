#!/usr/bin/env python3
"""Computes the URIs of a request's thumbnails. README.md says how; this is that text as a program.

    thumbnail_id.py < request.json                one URI a rendition, in their order
    thumbnail_id.py --canonical < request.json    the texts that are digested
"""
import base64
import hashlib
import json
import sys
import urllib.parse

DEFAULTS = {"fit": "inside", "withoutEnlargement": True, "gravity": "center", "format": "auto"}  # version 1, frozen


def unique(pairs):
    if len(dict(pairs)) != len(pairs):
        raise ValueError("duplicate key")
    return dict(pairs)


def canonical(value):
    # RFC 8785, as far as ids need it: keys are ASCII, numbers are whole.
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def source_text(source):
    if source[:5].lower() != "data:":
        return source
    header, payload = source[5:].split(",", 1)
    data = urllib.parse.unquote_to_bytes(payload)
    if "base64" in [parameter.strip(" ").lower() for parameter in header.split(";")[1:]]:
        digits = data.translate(bytes.maketrans(b"-_", b"+/"), delete=b" \t\r\n")
        digits = digits[:-2] + digits[-2:].rstrip(b"=")
        data = base64.b64decode(digits + b"=" * (-len(digits) % 4), validate=True)
    return "cameo://blob/sha256-" + hashlib.sha256(data).hexdigest()


def definition(rendition):
    fields = {k: v for k, v in rendition.items() if k != "name" and DEFAULTS.get(k) != v}
    for edge in {"width", "height", "quality"} & fields.keys():
        fields[edge] = int(fields[edge])  # 256.0 is 256
    if digits := fields.get("background", "")[1:].lower():
        digits = "".join(d * 2 for d in digits) if len(digits) < 6 else digits
        fields["background"] = "#" + (digits + "ff")[:8]
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
