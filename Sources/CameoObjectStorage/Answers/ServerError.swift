internal import CameoModel
internal import Foundation

/// What a server said in an error.
struct ServerError: Hashable, Sendable {
    /// The code of S3, such as `NoSuchKey`; empty if the answer has none, as that to a HEAD.
    let code: String
    let message: String

    init(code: String = "", message: String = "") {
        (self.code, self.message) = (code, message)
    }

    init(_ body: Data) {
        let root = AnswerParser.root(of: body)
        let error = root?.name == "Error" ? root : root?.child("Error")
        self.init(
            code: Self.plain(error?["Code"] ?? "", limit: 64),
            message: Self.plain(error?["Message"] ?? "", limit: 200)
        )
    }

    /// Only code and message go into messages: other parts of an answer repeat what was signed, and who signed it.
    func text(status: Int) -> String {
        let words = [code, message].filter { !$0.isEmpty }.joined(separator: ": ")
        return "the server answered \(status)" + (words.isEmpty ? "" : " (\(words))")
    }

    /// Text of a stranger, shortened, and without what would break a line of a log.
    private static func plain(_ text: String, limit: Int) -> String {
        let scalars = text.unicodeScalars.lazy.filter { $0.properties.generalCategory != .control }.prefix(limit)
        return String(String.UnicodeScalarView(scalars)).trimmingCharacters(in: .whitespaces)
    }
}
