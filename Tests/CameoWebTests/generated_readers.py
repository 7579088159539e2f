"""Makes a client of a server's document, and has it read and write every example of the messages that the document describes.

    generated_readers.py GENERATOR URL EXAMPLES FOLDER    GENERATOR: openapi-python-client, or a generator of
                                                          openapi-generator: python, typescript-fetch; FOLDER: an empty one

What it writes has to be the example, apart from defaults. Prints `ok`, or what is lost.
"""
import datetime
import importlib
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.request

generator, url, contract, folder = sys.argv[1], sys.argv[2].rstrip("/"), pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
programs = pathlib.Path(sys.executable).parent
document = json.loads(urllib.request.urlopen(f"{url}/openapi.json", timeout=60).read())
(folder / "openapi.json").write_text(json.dumps(document))
client = folder / "client"
sys.path.insert(0, str(client))


def command(*words):
    # openapi-python-client formats with ruff, which stands beside it.
    path = f"{programs}:{os.environ['PATH']}"
    subprocess.run(words, cwd=folder, check=True, stdout=sys.stderr, env=dict(os.environ, PATH=path))


def generate(name, *options):
    command("openapi-generator-cli", "generate", "-g", name, "-i", "openapi.json", "-o", client, *options)


def python():
    generate("python")
    models = importlib.import_module("openapi_client.models")
    return lambda name, example: json.loads(getattr(models, name).from_dict(example).to_json())


def openapi_python_client():
    command("openapi-python-client", "generate", "--path", "openapi.json", "--output-path", client)
    models = importlib.import_module("cameo_web_client.models")
    return lambda name, example: getattr(models, name).from_dict(example).to_dict()


SCRIPT = """
const models = require("./js/index.js");
const [name, example] = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(models[`${name}ToJSON`](models[`${name}FromJSON`](example))));
"""


def typescript_fetch():
    generate("typescript-fetch", "--global-property", "skipFormModel=false")
    options = ["--target", "es2020", "--lib", "es2020,dom", "--module", "commonjs", "--moduleResolution", "node"]
    command("tsc", *options, "--outDir", "js", client / "index.ts")

    def passed(name, example):
        text = json.dumps([name, example])
        node = subprocess.run(["node", "-e", SCRIPT], cwd=folder, input=text, capture_output=True, text=True, check=True)
        return json.loads(node.stdout)

    return passed


TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")


def losses(example, written, place):
    if isinstance(example, dict) and isinstance(written, dict):
        for key in example.keys() | written.keys():
            if key in example:
                yield from losses(example[key], written.get(key), f"{place}.{key}")
            elif written[key] is None:
                yield f"{place}.{key} is null"
    elif isinstance(example, list) and isinstance(written, list) and len(example) == len(written):
        for index, values in enumerate(zip(example, written)):
            yield from losses(*values, f"{place}[{index}]")
    elif isinstance(example, str) and isinstance(written, str) and TIME.match(example):
        if datetime.datetime.fromisoformat(example) != datetime.datetime.fromisoformat(written):
            yield f"{place}: {example} is {written}"
    elif example != written:
        yield f"{place}: {example} is {written}"


passed = globals()[generator.replace("-", "_")]()
problems, count = [], 0
for file in sorted(contract.glob("*.schema.json")):
    name = json.loads(file.read_text())["title"]
    if name not in document["components"]["schemas"]:
        continue
    for path in sorted((contract / "examples" / file.name.removesuffix(".schema.json")).glob("*.json")):
        example = json.loads(path.read_text())
        count += 1
        try:
            problems += losses(example, passed(name, example), f"{name}, {path.name}")
        except Exception as problem:
            problems.append(f"{name}, {path.name}: {problem!r}")
print("\n".join(problems) or f"ok, {count > 40 and 'all'}")
