"""Random valid renditions with all options."""

import json
import pathlib

from fuzzing.fixtures import VIDEO_WEIGHTS

SCHEMA = pathlib.Path(__file__).parents[3] / "proto-json/thumbnail-request.schema.json"
PLACES = ["center", "north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest"]

OPTIONS = {  # field: formats that have it; `source` takes all
    "effort": {"auto", "png", "webp", "avif", "gif", "source"}, "progressive": {"jpeg", "source"},
    "palette": {"png", "source"}, "chromaSubsampling": {"jpeg", "avif", "source"},
    "lossless": {"auto", "webp", "avif", "source"}, "nearLossless": {"auto", "webp", "source"},
    "animated": {"auto", "webp", "gif", "source"}, "keepProfile": {"auto", "jpeg", "png", "webp", "avif", "source"},
    "keep": {"auto", "jpeg", "png", "webp", "avif", "source"},
}

# Other fields, of which the schema says enough, are drawn as it says.
DRAWN = {
    "name", "width", "height", "fit", "withoutEnlargement", "gravity", "dpr", "page", "time", "accurate", "storyboard",
    "trim", "crop", "rotate", "flip", "background", "cornerRadius", "corners", "border", "borderColor", "blur", "sharpen",
    "brightness", "saturation", "contrast", "overlay", "format", "quality", "maxBytes", *OPTIONS,
}
PLAIN = {field: kind for field, kind in json.loads(SCHEMA.read_text())["$defs"]["rendition"]["properties"].items()
         if field not in DRAWN}


def color(rng):
    return "#" + rng.randbytes(rng.choice([3, 4])).hex()


def plain_value(rng, kind):
    """A value of a flag, a number, a colour or a choice; the others need a draw of their own."""
    if kind.get("$ref") == "#/$defs/color":
        return color(rng)
    if "enum" in kind:
        return rng.choice(kind["enum"])
    if kind["type"] == "boolean":
        return True
    return (rng.randint if kind["type"] == "integer" else rng.uniform)(kind["minimum"], kind["maximum"])


def edge(rng):
    low, high = rng.choices([(16, 160), (1, 4), (161, 400), (401, 1_600)], [78, 6, 14, 2])[0]
    return rng.randint(low, high)


def rendition(rng, index, format, overlays, plain):
    """A valid rendition; `plain` limits it to size, fit, format and quality."""
    made = {"name": f"r{index}", "fit": rng.choice(["inside", "cover", "contain", "fill", "outside"])}
    sides = rng.choice([["width", "height"], ["width", "height"], ["width"], ["height"]])
    made.update((side, edge(rng)) for side in sides)
    output = rng.choices(["auto", "webp", "jpeg", "png", "source", "gif", "avif"], [14, 20, 34, 14, 8, 6, 4])[0]
    if plain:
        made["format"] = output if output not in ("source", "gif") else "jpeg"
        if made["format"] != "png" and rng.random() < 0.3:
            made["quality"] = rng.randint(1, 100)
        return made
    made["format"] = output

    def sometimes(share, field, value):
        if rng.random() < share and output in OPTIONS.get(field, {output}):
            made[field] = value()

    def near(low, high, usual):
        return round(rng.uniform(low, high) if rng.random() < 0.1 else rng.uniform(low, usual), 3)

    focus = {"x": round(rng.random(), 3), "y": round(rng.random(), 3)}
    smart = [] if made["fit"] == "contain" else ["entropy", "attention"]
    sometimes(0.3, "withoutEnlargement", lambda: False)
    if made["fit"] in ("cover", "contain") and len(sides) == 2:
        sometimes(0.6, "gravity", lambda: rng.choice(PLACES + smart * 3 + [focus]))
    sometimes(0.08, "dpr", lambda: rng.choice([0.1, 0.5, 1.5, 2, 3]))
    sometimes(0.1, "trim", lambda: rng.randint(0, 255))
    if rng.random() < 0.12:
        left, top = round(rng.uniform(0, 0.7), 2), round(rng.uniform(0, 0.7), 2)
        made["crop"] = {"left": left, "top": top, "width": round(1 - left, 2), "height": round(1 - top, 2), "unit": "fraction"}
        if rng.random() < 0.4:
            made["crop"] = {"left": rng.randint(0, 20), "top": rng.randint(0, 20), "width": rng.randint(1, 80),
                            "height": rng.randint(1, 60)}
    sometimes(0.12, "rotate", lambda: rng.choice([0, 90, 180, 270]))
    sometimes(0.1, "flip", lambda: rng.choice(["horizontal", "vertical", "both"]))
    sometimes(0.15, "background", lambda: color(rng))
    sometimes(0.1, "cornerRadius",
              lambda: rng.choice(["circle", rng.randint(1, 60), {"fraction": round(rng.uniform(0.001, 0.5), 3)}]))
    if made.get("cornerRadius", "circle") != "circle" and rng.random() < 0.4:
        made["corners"] = rng.sample(["topLeft", "topRight", "bottomRight", "bottomLeft"], rng.randint(1, 3))
    sometimes(0.1, "border", lambda: rng.choice([1, 3, 20, 4_096]))
    if "border" in made:
        sometimes(0.5, "borderColor", lambda: color(rng))
    sometimes(0.07, "blur", lambda: near(0.3, 100, 6))
    sometimes(0.07, "sharpen", lambda: near(0.1, 10, 2))
    for field, kind in PLAIN.items():
        sometimes(0.07, field, lambda: plain_value(rng, kind))
    for factor in ["brightness", "saturation", "contrast"]:
        sometimes(0.06, factor, lambda: near(0, 10, 2))
    if overlays and rng.random() < 0.06:
        made["overlay"] = {
            "source": rng.choice(overlays), "opacity": round(rng.random(), 2),
            "margin": rng.choice([0, 3, 50, 4_096]), "gravity": rng.choice(PLACES + [focus]),
            **({"scale": round(rng.uniform(0.01, 1), 2)} if rng.random() < 0.6 else {}),
        }
    # High efforts take much time, so they are chosen seldom to leave time for more pictures.
    sometimes(1 if output == "avif" else 0.15, "effort", lambda: rng.randint(1, 2 if rng.random() < 0.9 else 9))
    sometimes(0.15, "progressive", lambda: True)
    sometimes(0.2, "chromaSubsampling", lambda: rng.choice(["4:4:4", "4:2:0"]))
    sometimes(0.2, "palette", lambda: True)
    sometimes(0.1, "lossless", lambda: True)
    if not made.get("lossless"):
        sometimes(0.1, "nearLossless", lambda: True)
    sometimes(0.4 if format in ("gif", "webp") else 0.05, "animated", lambda: True)
    sometimes(0.1, "keepProfile", lambda: True)
    if made.get("keepProfile"):
        for name in ("background", "border", "borderColor", "tint", "overlay"):  # refused beside it
            made.pop(name, None)
    sometimes(0.15, "keep", lambda: rng.sample(["copyright", "exif", "gps", "icc", "xmp"], rng.randint(1, 3)))
    if not made.get("animated") and format in ("gif", "webp", "tiff", "pdf"):
        sometimes(0.1, "page", lambda: rng.choice([0, 1, 2, 3, 9, 99_999]))
    if format in VIDEO_WEIGHTS:
        times = [0, 0.5, round(rng.uniform(0, 3), 2), 1_000_000, "cover", "0%", "50%", "100%"]
        sometimes(0.6, "time", lambda: "auto" if made.get("animated") else rng.choice([*times, "auto"]))
        if made.get("time", "auto") not in ("auto", "cover"):
            sometimes(0.3, "accurate", lambda: True)
        if "time" not in made and not made.get("animated") and rng.random() < 0.3:
            made["storyboard"] = {"columns": rng.randint(1, 6), "rows": rng.randint(1, 6)}
            sometimes(0.5, "storyboard", lambda: {**made["storyboard"], "interval": rng.choice([0.1, 0.5, 100_000])})
    if made.get("lossless"):
        made.pop("chromaSubsampling", None)
    elif output != "gif" and (output != "png" or made.get("palette")):
        sometimes(0.3, "quality", lambda: rng.randint(1, 100))
        if not made.get("nearLossless"):
            sometimes(0.06, "maxBytes", lambda: rng.choice([128, 600, 2_000, 8_000, 100_000]))
    return made
