public import ArgumentParser
public import CameoModel
internal import CommandSupport

/// Renditions as they are typed after `--size`, and the words of their options.
extension Refresh: ExpressibleByArgument {}
extension Rendition.Fit: ExpressibleByArgument {}

extension Rendition.Format: ExpressibleByArgument {
    /// Accepts `jpg` too, the usual file extension.
    public init?(argument: String) { self.init(word: argument) }
}

extension Rendition.Rotation: ExpressibleByArgument {}
extension Rendition.Flip: ExpressibleByArgument {}

/// Values whose notation on the command line differs from JSON. The model checks their ranges.
enum RenditionArgument {
    /// Parses a word, or a focal point such as `0.3,0.7`.
    static func gravity(_ text: String) throws -> Rendition.Gravity {
        if let gravity = Rendition.Gravity(word: text) { return gravity }
        let shares = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        guard shares.count == 2, let x = shares[0], let y = shares[1] else {
            let words = Rendition.Gravity.words.compactMap(\.word).joined(separator: ", ")
            throw ValidationError("must be one of \(words), or x,y with each from 0 to 1")
        }
        return .focus(Rendition.FocalPoint(x: x, y: y))
    }

    /// Parses seconds, a percentage, `auto` or `cover`.
    static func time(_ text: String) throws -> Rendition.FrameTime {
        guard let time = Rendition.FrameTime(text) else {
            throw ValidationError("must be seconds such as 15.5, a percentage such as 50%, auto or cover")
        }
        return time
    }

    /// Parses `5x4`.
    static func tiles(_ text: String) throws -> Change<Rendition.Storyboard> {
        let numbers = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count == 2, let columns = numbers[0], let rows = numbers[1] else {
            throw ValidationError("must be the tiles of a row and the rows, such as 5x4")
        }
        return Change { ($0.columns, $0.rows) = (columns, rows) }
    }

    /// Parses a duration as seconds.
    static func seconds(_ text: String) throws -> Double? {
        guard let duration = Duration(argument: text) else {
            throw ValidationError("\(text) is no duration such as 30s")
        }
        return duration.typedSeconds
    }

    /// Parses `10,20,300x200` in pixels or `10%,5%,50%x100%` in fractions.
    static func crop(_ text: String) throws -> Rendition.CropArea {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = parts.dropLast() + (parts.last ?? "").split(separator: "x", omittingEmptySubsequences: false)
        let isShare = numbers.allSatisfy { $0.last == "%" }
        let values = isShare ? numbers.compactMap(share) : numbers.compactMap { Int($0).map(Double.init) }
        guard parts.count == 3, numbers.count == 4, values.count == 4 else {
            throw ValidationError("must be left,top,WIDTHxHEIGHT, all in pixels or all in per cent")
        }
        return Rendition.CropArea(
            left: values[0],
            top: values[1],
            width: values[2],
            height: values[3],
            unit: isShare ? .fraction : .pixels
        )
    }

    /// Parses `20` (pixels), `25%` (of the shorter edge) or `circle`.
    static func cornerRadius(_ text: String) throws -> Rendition.Look.CornerRadius {
        if text == "circle" { return .circle }
        if let pixels = Int(text) { return .pixels(pixels) }
        if let share = share(text[...]) { return .fraction(share) }
        throw ValidationError("must be a number of pixels, a percentage such as 25%, or circle")
    }

    /// Parses comma-separated words, each at most once.
    static func words<Word: RawRepresentable & CaseIterable & Hashable>(_ text: String) throws -> Set<Word>
    where Word.RawValue == String {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let words = Set(parts.compactMap { Word(rawValue: String($0)) })
        guard words.count == parts.count else {
            throw ValidationError(
                "must be a comma-separated list, without spaces, of \(Word.allWords), each at most once"
            )
        }
        return words
    }

    static func color(_ text: String) throws -> Color {
        guard let color = Color(text) else { throw ValidationError("must be #rgb, #rgba, #rrggbb or #rrggbbaa") }
        return color
    }

    /// Parses `33.3%` as exactly 0.333, which dividing by 100 would miss.
    private static func share(_ text: Substring) -> Double? {
        let digits = text.dropLast()
        guard text.last == "%", digits.first != "-", digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") })
        else { return nil }
        return Double("\(digits)e-2")
    }
}
