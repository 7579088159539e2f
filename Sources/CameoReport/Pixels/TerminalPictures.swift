package import Foundation

/// How a terminal shows a picture.
package enum TerminalPictures: String, CaseIterable, Sendable {
    /// The graphics protocol of kitty (https://sw.kovidgoyal.net/kitty/graphics-protocol/).
    case kitty
    /// The inline images of iTerm2 (https://iterm2.com/documentation-images.html).
    case iterm
    /// Sixels, see ``Sixel``.
    case sixel
    /// Coloured half blocks, which any terminal with colours can show.
    case blocks

    /// What a terminal with these environment variables can show; nil if they do not tell.
    package init?(environment: [String: String]) {
        func has(_ name: String) -> Bool { !(environment[name] ?? "").isEmpty }
        let (type, program) = (environment["TERM"] ?? "", environment["TERM_PROGRAM"] ?? "")
        // They pass on neither of the first two, and sixels only to some terminals, whatever they answer when asked.
        let isMultiplexed = has("TMUX") || has("STY") || type.hasPrefix("screen") || type.hasPrefix("tmux")
        if isMultiplexed {
            self = .blocks
        } else if has("KITTY_WINDOW_ID") || has("KONSOLE_VERSION") || program == "ghostty" || type.contains("kitty")
            || type.contains("ghostty")
        {
            self = .kitty
        } else if ["iTerm.app", "WezTerm", "mintty"].contains(program) || environment["LC_TERMINAL"] == "iTerm2" {
            self = .iterm
        } else if ["foot", "mlterm", "contour"].contains(where: type.hasPrefix) || has("MLTERM")
            || environment["TERMINAL_NAME"] == "contour"
        {
            self = .sixel
        } else {
            return nil
        }
    }

    /// The escape sequence that shows a PNG at the cursor; nil for sixels and half blocks, which are drawn of pixels.
    package func sequence(png: Data) -> String? {
        let text = png.base64EncodedString()
        switch self {
        case .sixel, .blocks: return nil
        case .iterm: return "\u{1B}]1337;File=inline=1;size=\(png.count):\(text)\u{7}\n"
        case .kitty:
            // At most 4096 bytes at once. The terminal is not to answer (q=2), because nobody reads the answer.
            let bytes = Array(text.utf8)
            let parts = stride(from: 0, to: bytes.count, by: 4_096).map { start in
                String(decoding: bytes[start..<min(bytes.count, start + 4_096)], as: UTF8.self)
            }
            let sequences = parts.enumerated().map { index, part in
                let more = index + 1 < parts.count ? 1 : 0
                return "\u{1B}_G\(index == 0 ? "a=T,f=100,q=2," : "")m=\(more);\(part)\u{1B}\\"
            }
            return sequences.joined() + "\n"
        }
    }
}
