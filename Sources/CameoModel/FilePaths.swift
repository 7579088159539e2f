internal import Glibc

/// Paths as the system sees them: bytes. Foundation's standardisation is not used because it expands a leading `~`,
/// which is a valid file name.
package enum FilePaths {
    private static let slash = UInt8(ascii: "/")

    /// Makes a path absolute and resolves `.`, `..` and doubled slashes lexically; symbolic links are not followed.
    package static func absolute(_ path: String) -> String {
        String(decoding: absolute(Array(path.utf8)), as: UTF8.self)
    }

    package static func absolute(_ path: [UInt8]) -> [UInt8] {
        let full = path.first == slash ? path : workingDirectory() + [slash] + path
        var parts: [ArraySlice<UInt8>] = []
        for part in full.split(separator: slash) where !part.elementsEqual(".".utf8) {
            if part.elementsEqual("..".utf8) { _ = parts.popLast() } else { parts.append(part) }
        }
        return [slash] + parts.joined(separator: [slash])
    }

    /// The path as text for a message, with each byte that is not valid UTF-8 written as `\xE9`.
    package static func readable(_ path: some Sequence<UInt8>) -> String {
        var rest = Array(path)[...]
        if let text = String(validating: rest, as: UTF8.self) { return text }
        var text = ""
        while let first = rest.first {
            if let length = (1...4).first(where: { String(validating: rest.prefix($0), as: UTF8.self) != nil }) {
                text += String(decoding: rest.prefix(length), as: UTF8.self)
                rest = rest.dropFirst(length)
            } else {
                text += "\\x" + Hexadecimal.encode([first]).uppercased()
                rest = rest.dropFirst()
            }
        }
        return text
    }

    private static func workingDirectory() -> [UInt8] {
        guard let path = getcwd(nil, 0) else { return [] }
        defer { free(path) }
        return Array(UnsafeRawBufferPointer(start: path, count: strlen(path)))
    }
}
