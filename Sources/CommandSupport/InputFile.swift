package import CameoModel
package import Foundation

/// Reads a file of any kind to its end: a regular file, `/dev/stdin`, or a shell's `<(…)` pipe, which has no size and
/// cannot be read twice. What has no end (`/dev/zero`) is "File too large".
package enum InputFile {
    private static let chunk = 65_536
    /// More than any picture, request or settings may have.
    private static let usualLimit = 128 << 20

    /// All bytes of standard input.
    package static func standardInput(atMost limit: Int = usualLimit) throws(Errno) -> Data {
        try read(STDIN_FILENO, atMost: limit)
    }

    /// All bytes of the file with this path; `-` is standard input.
    package static func read(_ path: String) throws(Errno) -> Data {
        guard path != "-" else { return try standardInput() }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Errno() }
        let file = OpenFile(adopting: descriptor)
        return try read(file.descriptor, atMost: usualLimit)
    }

    private static func read(_ descriptor: Int32, atMost limit: Int) throws(Errno) -> Data {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: chunk)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Errno() }
            guard count > 0 else { return data }
            guard data.count + count <= limit else { throw Errno(EFBIG) }
            data.append(contentsOf: buffer[..<count])
        }
    }
}
