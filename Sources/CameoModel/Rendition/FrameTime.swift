/// The moment of a video, and how it is spelled.
extension Rendition {
    /// The moment of a video that a rendition shows.
    public enum FrameTime: Hashable, Sendable {
        /// The first frame found that shows something: not black, blank or half faded.
        case auto
        /// Seconds from the beginning; the keyframe that is nearest is shown, at the end the last one.
        case seconds(Double)
        /// A share of the duration, in per cent.
        case percent(Double)
        /// The picture that belongs to the file: the cover of a film or an album.
        case cover
    }

    package static let secondsRange = 0.0...1_000_000
    package static let percentRange = 0.0...100
}

extension Rendition.FrameTime {
    /// Reads `auto`, `cover`, `15.5` or `50%`, as it is typed.
    package init?(_ text: String) {
        if let seconds = Double(text), Rendition.secondsRange.contains(seconds) {
            self = .seconds(seconds)
        } else {
            self.init(word: text)
        }
    }

    /// Reads `auto`, `cover` or a percentage, whose number must be as JSON would have it, with at most three decimals: each has
    /// one spelling, so each moment has one id.
    private init?(word: String) {
        if word == "auto" {
            self = .auto
        } else if word == "cover" {
            self = .cover
        } else if word.hasSuffix("%"), let number = Double(word.dropLast()), Rendition.percentRange.contains(number),
            word.drop(while: { $0 != "." }).count <= ".999%".count, Self.percent(number).word == word
        {
            self = .percent(number)
        } else {
            return nil
        }
    }

    private var word: String {
        switch self {
        case .auto: "auto"
        case .cover: "cover"
        case .seconds(let seconds): JSONValue.number(seconds).canonicalText
        case .percent(let share): "\(JSONValue.number(share).canonicalText)%"
        }
    }

    /// Nil if the field is absent.
    init?(_ reader: JSONObjectReader, _ key: String) throws(InvalidRequest) {
        switch reader.value(key) {
        case nil: return nil
        case .string(let text)?:
            guard let time = Self(word: text) else {
                let rule = "must be seconds, a percentage such as \"50%\", \"auto\" or \"cover\""
                throw reader.refusal(key, "\(rule), not \"\(text)\"")
            }
            self = time
        default:
            guard let seconds = try reader.number(key, in: Rendition.secondsRange) else { return nil }
            self = .seconds(seconds)
        }
    }

    var json: JSONValue { if case .seconds(let seconds) = self { .number(seconds) } else { .string(word) } }
}
