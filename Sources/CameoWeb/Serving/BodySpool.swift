internal import CameoModel
internal import Foundation
internal import Glibc
internal import HTTPTypes
internal import NIOPosix

/// Collects a request's body: in memory up to a mebibyte, and beyond that in a file that has no name and that goes when
/// the last reference to its bytes does. An upload thus takes little memory, whatever its size.
struct BodySpool {
    private static let memory = 1_048_576
    /// A folder that is on a disk even where `/tmp` is memory.
    private static let folder = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/var/tmp"

    /// The bytes that are not in the file.
    private var tail = Data()
    private var file: OpenFile?
    private(set) var count = 0

    mutating func append(_ bytes: some Collection<UInt8>) async throws {
        tail.append(contentsOf: bytes)
        count += bytes.count
        if tail.count >= Self.memory { try await writeTail() }
    }

    /// All bytes; those in a file are mapped, not read.
    mutating func contents() async throws -> Data {
        guard let file else { return tail }
        try await writeTail()
        guard let start = mmap(nil, count, PROT_READ, MAP_PRIVATE, file.descriptor, 0), start != MAP_FAILED else {
            throw Self.failure(Errno())
        }
        return Data(bytesNoCopy: start, count: count, deallocator: .unmap)
    }

    private mutating func writeTail() async throws {
        let (bytes, known) = (tail, file)
        file = try await NIOThreadPool.singleton.runIfActive {
            do {
                let file = try known ?? Self.nameless()
                try bytes.withUnsafeBytes { try file.write($0) }
                return file
            } catch let error as Errno {
                throw Self.failure(error)
            }
        }
        tail.removeAll(keepingCapacity: true)
    }

    private static func nameless() throws(Errno) -> OpenFile {
        var path = Array("\(folder)/cameo-upload-XXXXXX".utf8CString)
        let descriptor = mkstemp(&path)
        guard descriptor >= 0 else { throw Errno() }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unlink(path)
        return OpenFile(adopting: descriptor)
    }

    private static func failure(_ error: Errno) -> Problem {
        let status: HTTPResponse.Status = [ENOSPC, EDQUOT].contains(error.code) ? .outOfSpace : .serviceUnavailable
        return Problem(
            status,
            "the upload cannot be kept in \(folder): \(error)",
            public: "the upload cannot be kept"
        )
    }
}
