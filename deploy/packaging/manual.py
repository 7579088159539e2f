"""Reads what a command tells of itself by --experimental-dump-help, and writes its manual page (man(7)).

    cameo-enqueue --experimental-dump-help | manual.py VERSION > cameo-enqueue.1
"""

import json
import os
import re
import sys
import time


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.split("\n"))


def discussion(text, heading):
    """Paragraphs; lines in capitals are headings, indented ones stay as they are."""
    lines, example = [], False
    for line in text.split("\n"):
        # Exit codes are indented like examples, and are prose.
        indented = line.startswith("  ") and not re.match(r"  0 ", line)
        if indented != example:
            lines.append(".RS 4\n.nf" if indented else ".fi\n.RE")
            example = indented
        if re.fullmatch(r"[A-Z][A-Z ]+", line):
            lines.append(heading.format(escaped(line)))
        elif line.strip():
            lines.append(escaped(line.strip()))
        elif not example:
            lines.append(".PP")
    if example:
        lines.append(".fi\n.RE")
    # No blank paragraph before a heading or at the end.
    return re.sub(r"(\.PP\n)+(?=\.S[HS]|\Z|\.PP)", "", "\n".join(lines) + "\n")


def value(argument):
    return "\\fI" + escaped(argument["valueName"]) + "\\fR"


def names(argument):
    if argument["kind"] == "positional":
        return value(argument) + (" ..." if argument["isRepeating"] else "")
    dashes = {"long": "--", "short": "-", "longWithSingleDash": "-"}
    # In the order of the help: -h before --help.
    all_names = sorted((dashes[name["kind"]] + name["name"] for name in argument["names"]), key=len)
    text = ", ".join("\\fB" + escaped(name) + "\\fR" for name in all_names)
    return text if argument["kind"] == "flag" else text + " " + value(argument)


def about(argument):
    text = argument.get("abstract", "").strip()
    facts = []
    if argument.get("allValues") and "(values:" not in text:
        facts.append("values: " + ", ".join(argument["allValues"]))
    if argument.get("defaultValue") and "(default:" not in text:
        facts.append("default: " + argument["defaultValue"])
    text += f" ({'; '.join(facts)})" if facts else ""
    return escaped(text + ("\n" + argument["discussion"] if argument.get("discussion") else ""))


def options(command, heading):
    sections = {}
    for argument in command.get("arguments", []):
        if argument["shouldDisplay"]:
            usual = "Arguments" if argument["kind"] == "positional" else "Options"
            sections.setdefault(argument.get("sectionTitle") or usual, []).append(argument)
    order = sorted(sections, key=lambda title: (title != "Arguments", title == "Options"))
    for title in order:
        yield f"{heading} {escaped(title.upper())}" if heading == ".SH" else f".PP\n\\fB{escaped(title.upper())}\\fR"
        for argument in sections[title]:
            yield f".TP\n{names(argument)}\n{about(argument)}"


def usage(command, path):
    words = ["\\fB" + escaped(" ".join(path)) + "\\fR"]
    if any(argument["kind"] != "positional" for argument in command.get("arguments", [])):
        words.append("[\\fIoptions\\fR]")
    for argument in command.get("arguments", []):
        if argument["kind"] == "positional" and argument["shouldDisplay"]:
            words.append(f"[{names(argument)}]" if argument["isOptional"] else names(argument))
    return " ".join(words)


def below(command, path):
    """Its subcommands with theirs, and the way to each."""
    for child in command.get("subcommands", []):
        if child["shouldDisplay"] and child["commandName"] != "help":
            yield child, path + [child["commandName"]]
            yield from below(child, path + [child["commandName"]])


def page(tool, version):
    name = tool["commandName"]
    date = time.strftime("%Y-%m-%d", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))))
    children = list(below(tool, [name]))
    usable = [each for each in children if not each[0].get("subcommands")] or [(tool, [name])]
    yield f'.TH {name.upper()} 1 {date} "Cameo {version}" "User Commands"'
    yield f".SH NAME\n{escaped(name)} \\- {escaped(tool['abstract'].rstrip('.'))}"
    yield ".SH SYNOPSIS\n" + "\n.br\n".join(usage(*each) for each in usable)
    examples = ""
    if tool.get("discussion"):
        text = discussion(tool["discussion"], ".SH {}")
        prose, break_, examples = text.partition(".SH ")
        examples = break_ + examples
        yield ".SH DESCRIPTION\n" + (prose.strip() or escaped(tool["abstract"]))
    if children:
        yield ".SH COMMANDS"
        for child, path in children:
            if child.get("subcommands"):
                continue
            yield ".SS " + escaped(" ".join(path[1:]))
            yield escaped(child["abstract"])
            if child.get("discussion"):
                yield ".PP\n" + discussion(child["discussion"], ".PP\n\\fB{}\\fR\n.br").strip()
            yield from options(without_common(child), ".SS")
    else:
        yield from options(tool, ".SH")
    yield examples.strip()
    yield ".SH SEE ALSO\n" + ", ".join(
        f"\\fB{escaped(other)}\\fR(1)"
        for other in ["cameo-admin", "cameo-enqueue", "cameo-renderer", "cameo-status", "cameo-worker"]
        if other != name
    )
    yield ".PP\n/usr/share/doc/cameo/README.md"


def without_common(command):
    kept = [each for each in command["arguments"] if each.get("valueName") not in ("help", "version")]
    return {**command, "arguments": kept}


if __name__ == "__main__":
    text = "\n".join(part for part in page(json.load(sys.stdin)["command"], sys.argv[1]) if part)
    print(text)
