#!/usr/bin/python3
"""Checks an OpenAPI 3.1 document and answers against it, with Debian's python3-jsonschema.

Reads {"document": …, "answers": [{"method", "path", "status", "type", "body"}, …]} from standard input. Every reference of
the document must resolve, every schema be valid, every answer be described, and its body, if it is JSON, match.
"""
import json
import re
import sys

from jsonschema import Draft202012Validator, FormatChecker


def resolve(document, reference):
    part = document
    for name in reference.removeprefix("#/").split("/"):
        part = part[name.replace("~1", "/").replace("~0", "~")]
    return part


def references(part):
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for value in part.values():
            yield from references(value)
    elif isinstance(part, list):
        for value in part:
            yield from references(value)


def operation(document, answer):
    path = answer["path"].split("?")[0]
    # A path without parameters comes before one with them.
    for template in sorted(document["paths"], key=lambda template: template.count("{")):
        if re.fullmatch(re.sub(r"\\{[a-z]+\\}", "[^/]+", re.escape(template)), path):
            return document["paths"][template].get(answer["method"].lower())
    return None


def fault(document, answer):
    described = operation(document, answer)
    # A method or a path that is not described is refused.
    responses = described["responses"] if described else {}
    response = responses.get(str(answer["status"])) or responses.get("default")
    if described is None:
        if answer["status"] not in (404, 405):
            return "is not described"
        response = document["components"]["responses"]["Problem"]
    if "$ref" in response:
        response = resolve(document, response["$ref"])
    if answer["status"] >= 400 and str(answer["status"]) not in responses and "default" not in responses and described:
        return "its status is not described"
    content = response.get("content", {})
    essence = answer["type"].split(";")[0]
    if answer["method"] == "HEAD" or answer["status"] == 304:
        return None
    schema = content.get(essence) or content.get(essence.split("/")[0] + "/*") or content.get("*/*")
    if schema is None and essence not in content and "image/*" not in content and "*/*" not in content:
        return f"its type {essence} is not described"
    if not schema or "schema" not in schema or not essence.endswith("json"):
        return None
    # A reference is then found in the schema itself: the library's resolver became another in its version 4.18.
    whole = {**schema["schema"], "components": document["components"]}
    validator = Draft202012Validator(whole, format_checker=FormatChecker(formats=()))
    error = next(validator.iter_errors(json.loads(answer["body"])), None)
    return error and f"{'/'.join(map(str, error.absolute_path))}: {error.message[:500]}"


task = json.load(sys.stdin)
document = task["document"]
for reference in references(document):
    resolve(document, reference)
for name, schema in document["components"]["schemas"].items():
    Draft202012Validator.check_schema(schema)
failed = False
for answer in task["answers"]:
    why = fault(document, answer)
    if why:
        failed = True
        print(f"{answer['method']} {answer['path']} {answer['status']}: {why}")
sys.exit(failed)
