internal import ArgumentParser

// DESIGN. An option that has gone works for one release more: its words are replaced before they are parsed, so that no
// command declares it, and one line of standard error says what to write instead. At the next release the table is emptied.

/// Options that the last release had, and what to write for them now.
enum FormerOptions {
    /// By the command: a flag, or, with `*` for its value, an option. What is empty was the default, and is left out.
    private static let ofCommands = [
        "cameo-admin": keep.merging(["--drain": "", "--until": "--for=*"]) { $1 },
        "cameo-enqueue": [
            "--border-color": "--border=color=*",
            "--brightness": "--adjust=brightness=*",
            "--chroma-subsampling": "--encoding=*",
            "--contrast": "--adjust=contrast=*",
            "--corners": "--corner-radius=corners=*",
            "--in": "--at=*",
            "--interval": "--storyboard=interval=*",
            "--keep-profile": "--keep=profile",
            "--lossless": "--encoding=lossless",
            "--near-lossless": "--encoding=near-lossless",
            "--overlay-gravity": "--overlay-style=gravity=*",
            "--overlay-margin": "--overlay-style=margin=*",
            "--overlay-opacity": "--overlay-style=opacity=*",
            "--overlay-scale": "--overlay-style=scale=*",
            "--palette": "--encoding=palette",
            "--progressive": "--encoding=progressive",
            "--retry-base": "--retry=base=*",
            "--retry-cap": "--retry=cap=*",
            "--retry-jitter": "--retry=jitter=*",
            "--saturation": "--adjust=saturation=*",
        ],
        "cameo-worker": keep.merging([
            "--connect-timeout": "--fetch-timeout=connect=*",
            "--idle-io": "--nice=io=idle",
            "--low-speed": "--fetch-timeout=low-speed=*",
            "--recycle-after": "--recycle=*",
            "--recycle-resident": "--recycle=resident=*",
            "--retry-base": "--retry=base=*",
            "--retry-cap": "--retry=cap=*",
        ]) { $1 },
    ]

    private static let keep = [
        "--keep-cancelled": "--keep=cancelled=*",
        "--keep-completed": "--keep=completed=*",
        "--keep-discarded": "--keep=discarded=*",
        "--keep-thumbnails": "--keep=thumbnails=*",
    ]

    /// The options of a command that have gone, with what takes their place.
    static func of(_ type: any ParsableCommand.Type) -> [String: String] { ofCommands[type._commandName] ?? [:] }

    /// The words with what takes the place of options that have gone, and a warning for each of these.
    static func replaced(in words: [String], for type: any ParsableCommand.Type) -> (words: [String], [String]) {
        let former = of(type)
        var (result, warnings): ([String], [String]) = ([], [])
        let end = words.firstIndex(of: "--") ?? words.endIndex
        var rest = words[..<end]
        while let word = rest.popFirst() {
            let name = String(word.prefix { $0 != "=" })
            guard let now = former[name] else {
                result.append(word)
                continue
            }
            if now.contains("*") {
                guard let value = name == word ? rest.popFirst() : String(word.dropFirst(name.count + 1)) else {
                    result.append(word)
                    break
                }
                result.append(now.replacing("*", with: value, maxReplacements: 1))
            } else if !now.isEmpty {
                result.append(now)
            }
            let form = now.replacing("=", with: " ", maxReplacements: 1).replacing("*", with: "…")
            let advice = now.isEmpty ? "leave it out, it is the default" : "write \(form)"
            warnings.append("\(name) will go with the next release: \(advice)")
        }
        return (result + words[end...], warnings)
    }
}
