internal import CameoModel
internal import Foundation

/// The text of a shared credentials file: sections in brackets, lines of a name and a value.
enum CredentialsFile {
    /// The credentials of a profile.
    ///
    /// - Parameters:
    ///   - text: the contents of the file.
    ///   - profile: the name of a section.
    /// - Returns: the credentials; nil if there is no such section, or it lacks the key or the secret.
    static func credentials(in text: String, profile: String) -> Credentials? {
        var values: [String: String] = [:]
        var isInside = false
        for line in text.lines.map({ $0.trimmingCharacters(in: .whitespaces) }) {
            if line.hasPrefix("#") || line.hasPrefix(";") { continue }
            if line.hasPrefix("[") {
                let name = line.dropFirst().prefix { $0 != "]" }.trimmingCharacters(in: .whitespaces)
                isInside = name == profile
            } else if isInside, let sign = line.firstIndex(of: "=") {
                let name = line[..<sign].trimmingCharacters(in: .whitespaces).lowercased()
                values[name] = line[line.index(after: sign)...].trimmingCharacters(in: .whitespaces)
            }
        }
        guard let keyID = values["aws_access_key_id"], let secret = values["aws_secret_access_key"],
            !keyID.isEmpty, !secret.isEmpty
        else { return nil }
        return Credentials(keyID: keyID, secret: secret, sessionToken: values["aws_session_token"])
    }
}
