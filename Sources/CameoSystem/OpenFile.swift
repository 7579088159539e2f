internal import CLinux
package import Foundation
internal import Glibc

/// The sole owner of an open file descriptor, which it closes when the last reference is released. It can cross tasks.
package final class OpenFile: Sendable {
    package let descriptor: Int32
    /// An object kept alive as long as the file.
    private let companion: (any Sendable)?

    /// Adopts an open descriptor that nothing else closes.
    package init(adopting descriptor: Int32, keeping companion: (any Sendable)? = nil) {
        self.descriptor = descriptor
        self.companion = companion
    }

    /// Adopts what a call that opens a descriptor returned just now, or throws the call's errno.
    package convenience init(opened descriptor: Int32, keeping companion: (any Sendable)? = nil) throws(Errno) {
        guard descriptor >= 0 else { throw Errno() }
        self.init(adopting: descriptor, keeping: companion)
    }

    /// Opens a file; nil if there is none.
    package static func existing(_ path: String, _ flags: Int32) throws(Errno) -> OpenFile? {
        let descriptor = open(path, flags | O_CLOEXEC)
        guard descriptor >= 0 || errno != ENOENT else { return nil }
        return try OpenFile(opened: descriptor)
    }

    deinit { close(descriptor) }

    /// The file's current status (fstat); nil if the call fails.
    package func status() -> stat? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? status : nil
    }

    /// Creates an anonymous in-memory file (memfd_create), empty and writable until it is ``seal()``ed. The companion
    /// lives as long as the memory.
    package static func memory(keeping companion: (any Sendable)? = nil) throws(Errno) -> OpenFile {
        try OpenFile(opened: cameo_memfd_create("cameo-source"), keeping: companion)
    }

    /// Creates an empty file in a folder that only this process can open, and that ends with its last reference.
    package static func unnamed(in folder: String) throws(Errno) -> OpenFile {
        let path = "\(folder)/cameo-\(UUID().uuidString)"
        let file = try OpenFile(opened: open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600))
        guard unlink(path) == 0 else { throw Errno() }
        return file
    }

    /// Creates a sealed in-memory file that contains these bytes.
    package static func memory(
        containing data: Data,
        keeping companion: (any Sendable)? = nil
    ) throws(Errno) -> OpenFile {
        let file = try memory(keeping: companion)
        try file.write(data)
        try file.seal()
        return file
    }

    /// Writes all of the bytes, at a position or else behind those written before, retrying short and interrupted writes.
    package func write(_ bytes: UnsafeRawBufferPointer, at position: Int? = nil) throws(Errno) {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count =
                if let position {
                    pwrite(descriptor, rest.baseAddress, rest.count, off_t(position + done))
                } else {
                    Glibc.write(descriptor, rest.baseAddress, rest.count)
                }
            if count < 0 {
                guard errno == EINTR else { throw Errno() }
                continue
            }
            done += count
        }
    }

    package func write(_ data: Data, at position: Int? = nil) throws(Errno) {
        // Data.withUnsafeBytes rethrows untyped errors only, so the closure returns the error as a value.
        let failure = data.withUnsafeBytes { bytes -> Errno? in
            do throws(Errno) { try write(bytes, at: position) } catch { return error }
            return nil
        }
        if let failure { throw failure }
    }

    /// Reads by position until the buffer is full or the file ends, and returns the number of bytes.
    package func read(into buffer: UnsafeMutableRawBufferPointer, from position: Int) throws(Errno) -> Int {
        var done = 0
        while done < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let count = pread(descriptor, rest.baseAddress, rest.count, off_t(position + done))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Errno() }
            guard count > 0 else { break }
            done += count
        }
        return done
    }

    /// The bytes of a range; fewer if the file ends before, none if it cannot be read.
    package func bytes(in range: Range<Int>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: range.count) { buffer, done in
            done = (try? read(into: UnsafeMutableRawBufferPointer(buffer), from: range.lowerBound)) ?? 0
        }
    }

    /// Prevents any further write, growth or truncation, so that a reader's mapping cannot fail.
    package func seal() throws(Errno) {
        guard cameo_memfd_seal(descriptor) == 0 else { throw Errno() }
    }
}

/// Paths as the system sees them: bytes. Foundation's standardisation is not used because it expands a leading `~`,
/// which is a valid file name.
package enum FilePaths {
    private static let slash = UInt8(ascii: "/")

    /// Makes a path absolute and resolves `.`, `..` and doubled slashes lexically; symbolic links are not followed. A
    /// relative path stays as it is if the working directory's name is not UTF-8, since no text names what is below it.
    package static func absolute(_ path: String) -> String {
        String(validating: absolute(Array(path.utf8)), as: UTF8.self) ?? path
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

    /// The status of the file with this path, or of a symbolic link itself if links are not followed.
    package static func status(of path: [UInt8], followingLinks: Bool = true) throws(Errno) -> stat {
        var status = stat()
        let path = path.map(CChar.init(bitPattern:)) + [0]
        guard fstatat(AT_FDCWD, path, &status, followingLinks ? 0 : AT_SYMLINK_NOFOLLOW) == 0 else { throw Errno() }
        return status
    }

    /// The names in a folder but `.` and `..`, sorted, and their types (`d_type`) as far as the file system has them there.
    ///
    /// - Throws: `Errno`, including `ENOTDIR` for a link to a folder.
    package static func entries(in folder: String) throws(Errno) -> [(name: String, type: Int)] {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw Errno() }
        guard let stream = fdopendir(descriptor) else {
            let error = Errno()
            close(descriptor)
            throw error
        }
        defer { closedir(stream) }
        var entries: [(name: String, type: Int)] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 { throw Errno() }
                return entries.sorted { $0.name < $1.name }
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
                field.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { entries.append((name, Int(entry.pointee.d_type))) }
        }
    }

    /// Makes the names in a folder durable.
    package static func sync(_ folder: String) throws(Errno) {
        guard cameo_sync_directory(folder) == 0 else { throw Errno() }
    }

    private static func workingDirectory() -> [UInt8] {
        guard let path = getcwd(nil, 0) else { return [] }
        defer { free(path) }
        return Array(UnsafeRawBufferPointer(start: path, count: strlen(path)))
    }
}

// Which of the two modules owns timespec depends on the order in which a build loads them.

/// A file's size and its modification and change times: if they differ, the file was written to.
package struct FileSnapshot: Hashable, Sendable {
    /// Bytes.
    package let size: Int
    private let modified: [Int]
    private let changed: [Int]

    package init(_ status: stat) {
        size = Int(status.st_size)
        modified = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
        changed = [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
    }
}

/// The error number of a failed system call.
package struct Errno: Error, Hashable, Sendable, CustomStringConvertible {
    package let code: Int32

    /// - Parameter code: defaults to the current `errno`; capture it before another call can overwrite it.
    package init(_ code: Int32 = errno) { self.code = code }

    /// Whether this machine has run out of descriptors or memory.
    package var isShortage: Bool { [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(code) }

    /// Why no descriptor can be opened now; nil if one can.
    package static var ofDescriptors: Errno? {
        let descriptor = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
        guard descriptor < 0 else {
            close(descriptor)
            return nil
        }
        let error = Errno()
        return error.isShortage ? error : nil
    }

    package var description: String { String(cString: strerror(code)) }
}
