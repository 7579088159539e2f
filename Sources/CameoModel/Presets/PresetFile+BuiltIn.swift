extension PresetFile {
    /// The built-in presets: the same document as `proto-json/examples/presets/built-in.json` (a test compares them),
    /// as text, so that the installed program needs no extra file.
    package static let builtInText = """
        {
          "presets": {
            "avatar": {
              "description": "Round pictures of a face, cut where it is, for one and two pixels a point",
              "renditions": [
                {"name": "avatar-48", "width": 48, "height": 48, "fit": "cover", "gravity": "attention",
                  "cornerRadius": "circle", "withoutEnlargement": false},
                {"name": "avatar-96", "width": 96, "height": 96, "fit": "cover", "gravity": "attention",
                  "cornerRadius": "circle", "withoutEnlargement": false},
                {"name": "avatar-192", "width": 192, "height": 192, "fit": "cover", "gravity": "attention",
                  "cornerRadius": "circle", "withoutEnlargement": false}
              ]
            },
            "favicon": {
              "description": "A logo as the icons that browsers and phones ask for",
              "renditions": [
                {"name": "favicon-32", "width": 32, "height": 32, "fit": "contain", "format": "png",
                  "withoutEnlargement": false},
                {"name": "favicon-192", "width": 192, "height": 192, "fit": "contain", "format": "png",
                  "withoutEnlargement": false},
                {"name": "favicon-512", "width": 512, "height": 512, "fit": "contain", "format": "png",
                  "withoutEnlargement": false},
                {"name": "apple-touch-icon", "width": 180, "height": 180, "fit": "contain", "format": "png",
                  "withoutEnlargement": false, "background": "#ffffffff"}
              ]
            },
            "gallery": {
              "description": "A square for the grid, a view for the page, and a large one",
              "renditions": [
                {"name": "grid", "width": 320, "height": 320, "fit": "cover", "gravity": "attention"},
                {"name": "view", "width": 1280, "height": 1280},
                {"name": "large", "width": 2560, "height": 2560}
              ]
            },
            "hero": {
              "description": "A wide banner for a page's top, for desktop and phone",
              "renditions": [
                {"name": "hero-wide", "width": 1920, "height": 720, "fit": "cover", "gravity": "attention"},
                {"name": "hero-narrow", "width": 828, "height": 1035, "fit": "cover", "gravity": "attention"}
              ]
            },
            "product": {
              "description": "A shop's article: border trimmed, centred on a white square",
              "renditions": [
                {"name": "list", "width": 240, "height": 240, "fit": "contain", "trim": 10, "format": "jpeg",
                  "background": "#ffffffff"},
                {"name": "detail", "width": 800, "height": 800, "fit": "contain", "trim": 10, "format": "jpeg",
                  "background": "#ffffffff"},
                {"name": "zoom", "width": 2000, "height": 2000, "fit": "contain", "trim": 10, "format": "jpeg",
                  "background": "#ffffffff", "progressive": true}
              ]
            },
            "responsive": {
              "description": "The widths of an img element's srcset",
              "renditions": [
                {"name": "w480", "width": 480},
                {"name": "w768", "width": 768},
                {"name": "w1024", "width": 1024},
                {"name": "w1600", "width": 1600},
                {"name": "w2560", "width": 2560}
              ]
            },
            "social": {
              "description": "What links show when they are shared: Open Graph's card and a square",
              "renditions": [
                {"name": "og", "width": 1200, "height": 630, "fit": "cover", "gravity": "attention",
                  "format": "jpeg", "withoutEnlargement": false},
                {"name": "square", "width": 1080, "height": 1080, "fit": "cover", "gravity": "attention",
                  "format": "jpeg", "withoutEnlargement": false}
              ]
            }
          }
        }
        """

    /// Parses ``builtInText``. A test shows that this does not throw.
    package static func builtIn() throws(InvalidRequest) -> PresetFile { try PresetFile(parsing: builtInText.utf8) }
}
